package bitcoin

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
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

// Decode reads a PSBT in any of its encodings and returns the encoding it found. White
// space around hex and base64, and line ends within base64, are ignored. Decode does
// not check that the bytes are a PSBT.
func Decode(content []byte) (raw []byte, found Encoding, err error) {
	if bytes.HasPrefix(content, []byte("psbt\xff")) {
		return content, Binary, nil
	}
	text := bytes.TrimSpace(content)
	if bytes.HasPrefix(text, []byte("cHNidP")) {
		raw, err = base64.StdEncoding.Strict().DecodeString(string(text))
		if err != nil {
			return nil, Base64, fmt.Errorf("base64 of a PSBT: %w", err)
		}
		return raw, Base64, nil
	}
	if raw, err = chains.DecodeHex(string(text)); err != nil {
		return nil, Hex, fmt.Errorf("%w: expected a PSBT in hex, base64 or binary", err)
	}
	return raw, Hex, nil
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
