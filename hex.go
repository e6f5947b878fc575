package countersign

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// hexPairs has the two digits of each byte, the first in the low half.
var hexPairs = func() (pairs [256]uint16) {
	for value := range pairs {
		digits := hex.AppendEncode(nil, []byte{byte(value)})
		pairs[value] = binary.LittleEndian.Uint16(digits)
	}
	return pairs
}()

// encodeHex is hex.EncodeToString with one allocation instead of two, and both
// digits of a byte at once: it is part of every answer.
func encodeHex(raw []byte) string {
	var out strings.Builder
	out.Grow(hex.EncodedLen(len(raw)))
	var chunk [512]byte
	for len(raw) > 0 {
		n := min(len(raw), len(chunk)/2)
		for i, value := range raw[:n] {
			binary.LittleEndian.PutUint16(chunk[2*i:], hexPairs[value])
		}
		out.Write(chunk[:2*n])
		raw = raw[n:]
	}
	return out.String()
}
