package countersign

import (
	"encoding/hex"
	"unsafe"

	"github.com/countersign-dev/countersign/internal/hexwords"
)

// encodeHex returns the digits of the bytes, with one allocation where
// hex.EncodeToString has two: they are part of every answer.
func encodeHex(raw []byte) string {
	digits := hexwords.Append(make([]byte, 0, hex.EncodedLen(len(raw))), raw)
	return unsafe.String(unsafe.SliceData(digits), len(digits)) // nobody else has them
}
