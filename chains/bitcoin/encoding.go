package bitcoin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/wiretext"
)

// Decode reads a PSBT in hex, as the API takes it, in base64, as wallets show it (BIP-174), or in
// binary, as .psbt files have it. It takes base64 in either alphabet, with or without padding; it
// ignores a byte order mark, UTF-16, the quotes of a JSON string, and white space around and within
// hex and base64. Decode does not check that hex is that of a PSBT.
func Decode(content []byte) (raw []byte, err error) {
	for _, reading := range wiretext.Read(content) {
		if reading.Form == wiretext.Hex || reading.Form != wiretext.Base58 &&
			bytes.HasPrefix(reading.Raw, []byte("psbt\xff")) {
			return reading.Raw, nil
		}
	}
	const expected = "expected a PSBT in hex, base64 or binary"
	text, err := wiretext.Clean(content)
	if err == nil && bytes.HasPrefix(text, []byte("cHNidP")) {
		return nil, errors.New("this is base64 of a PSBT, but it is damaged or cut off: " + expected)
	}
	if err == nil {
		_, err = chains.DecodeHex(string(text))
	}
	return nil, fmt.Errorf("%w: %s", err, expected)
}
