package bitcoin

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/wiretext"
)

// Encoding is how a PSBT is written in a file or on a command line. The zero Encoding
// is Hex.
type Encoding uint8

// The encodings.
const (
	Hex    Encoding = iota // what the API takes
	Base64                 // what wallets show (BIP-174): standard alphabet, padded
	Binary                 // what .psbt files have
)

// String returns the encoding's name.
func (e Encoding) String() string { return [...]string{"hex", "base64", "binary"}[e] }

// Decode reads a PSBT in any of its encodings and returns the encoding it found. It takes
// base64 in either alphabet, with or without padding; it ignores a byte order mark, UTF-16,
// the quotes of a JSON string, and white space around and within hex and base64. Decode
// does not check that hex is that of a PSBT.
func Decode(content []byte) (raw []byte, encoding Encoding, err error) {
	for _, reading := range wiretext.Read(content) {
		switch {
		case reading.Form == wiretext.Hex:
			return reading.Raw, Hex, nil
		case !bytes.HasPrefix(reading.Raw, []byte("psbt\xff")):
		case reading.Form == wiretext.Binary:
			return reading.Raw, Binary, nil
		case reading.Form != wiretext.Base58:
			return reading.Raw, Base64, nil
		}
	}
	const expected = "expected a PSBT in hex, base64 or binary"
	text, err := wiretext.Clean(content)
	if err == nil && bytes.HasPrefix(text, []byte("cHNidP")) {
		return nil, Base64, errors.New("this is base64 of a PSBT, but it is damaged or cut off: " + expected)
	}
	if err == nil {
		_, err = chains.DecodeHex(string(text))
	}
	return nil, Hex, fmt.Errorf("%w: %s", err, expected)
}

// Encode writes a PSBT in an encoding, without a line end.
func (e Encoding) Encode(raw []byte) []byte {
	switch e {
	case Base64:
		return base64.StdEncoding.AppendEncode(nil, raw)
	case Binary:
		return bytes.Clone(raw)
	}
	return hex.AppendEncode(nil, raw)
}
