// Package wiretext reads the texts in which files, wallets and other programs pass
// transactions on: hex, base64 in both alphabets, base58, a binary PSBT; with a byte order
// mark, in UTF-16, in the quotes of a JSON string, wrapped over lines.
//
// It must not be used for a message to be signed: there the bytes are the message.
package wiretext

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf16"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Form is how bytes are written. Forms are comparable; the zero Form is Hex.
type Form struct {
	name   string
	base64 *base64.Encoding
}

// The forms of which there is one each.
var (
	Hex    = Form{}
	Base58 = Form{name: "base58"}
	Binary = Form{name: "binary"} // of a PSBT only
)

// String returns hex, base64, base58 or binary.
func (f Form) String() string {
	switch {
	case f.base64 != nil:
		return "base64"
	case f == Hex:
		return "hex"
	}
	return f.name
}

// Encode writes bytes in this form, without a line end. Base64 gets the alphabet that it
// came in, and padding if it came with it.
func (f Form) Encode(raw []byte) []byte {
	switch {
	case f.base64 != nil:
		return f.base64.AppendEncode(nil, raw)
	case f == Base58:
		return []byte(base58.Encode(raw))
	case f == Binary:
		return bytes.Clone(raw)
	}
	return hex.AppendEncode(nil, raw)
}

// Reading is one way to read a text.
type Reading struct {
	Raw  []byte
	Form Form
}

// magicPSBT begins a binary PSBT.
const magicPSBT = "psbt\xff"

// maxBase58 bounds base58, whose decoding takes quadratic time: four times the longest
// transaction of Solana.
const maxBase58 = 4 * 5600

// Read returns the ways in which a text can be read. Hex excludes others; base58 comes before
// base64, which most of it could be as well. The caller takes the one that is a transaction.
func Read(content []byte) (readings []Reading) {
	if bytes.HasPrefix(content, []byte(magicPSBT)) {
		return []Reading{{content, Binary}}
	}
	clean, err := Clean(content)
	if err != nil {
		return nil
	}
	text := strings.Join(strings.Fields(string(clean)), "")
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	if raw, err := hex.DecodeString(digits); err == nil && len(raw) > 0 {
		return []Reading{{raw, Hex}}
	}
	if len(text) <= maxBase58 {
		if raw := base58.Decode(text); len(raw) > 0 {
			readings = append(readings, Reading{raw, Base58})
		}
	}
	form := base64Of(text)
	if raw, err := form.base64.DecodeString(text); err == nil && len(raw) > 0 {
		readings = append(readings, Reading{raw, form})
	}
	return readings
}

// base64Of returns the kind of base64 that a text would be.
func base64Of(text string) Form {
	padded := len(text)%4 == 0
	encoding := base64.StdEncoding
	switch url := strings.ContainsAny(text, "-_"); {
	case url && padded:
		encoding = base64.URLEncoding
	case url:
		encoding = base64.RawURLEncoding
	case !padded:
		encoding = base64.RawStdEncoding
	}
	return Form{base64: strictOf[encoding]}
}

// strictOf has the encodings that refuse set bits after the last byte, so that bytes have one text.
var strictOf = map[*base64.Encoding]*base64.Encoding{
	base64.StdEncoding: base64.StdEncoding.Strict(), base64.RawStdEncoding: base64.RawStdEncoding.Strict(),
	base64.URLEncoding: base64.URLEncoding.Strict(), base64.RawURLEncoding: base64.RawURLEncoding.Strict(),
}

// Clean returns a text as UTF-8, without a byte order mark, the white space around it and
// the quotes of a JSON string. A binary PSBT is returned unchanged.
func Clean(content []byte) ([]byte, error) {
	if bytes.HasPrefix(content, []byte(magicPSBT)) {
		return content, nil
	}
	encoding := plaintext.EncodingOf(content)
	text := content[encoding.Mark:]
	if encoding.Name == plaintext.UTF16 {
		var err error
		if text, err = fromUTF16(text, encoding.Low); err != nil {
			return nil, err
		}
	}
	text = bytes.TrimSpace(text)
	var inner string
	if len(text) > 1 && text[0] == '"' && json.Unmarshal(text, &inner) == nil {
		return []byte(strings.TrimSpace(inner)), nil
	}
	return text, nil
}

// fromUTF16 decodes units whose low byte is at low: 0 if little-endian, 1 if big-endian.
func fromUTF16(content []byte, low int) ([]byte, error) {
	if len(content)%2 != 0 {
		return nil, errors.New("UTF-16 with an odd number of bytes: the file is cut off")
	}
	units := make([]uint16, 0, len(content)/2)
	for i := 0; i < len(content); i += 2 {
		units = append(units, uint16(content[i+low])|uint16(content[i+1-low])<<8)
	}
	return []byte(string(utf16.Decode(units))), nil
}
