package plaintext

import (
	"bytes"
	"fmt"
	"strings"
)

// Encoding is one in which programs save text that was to be plain UTF-8.
type Encoding struct {
	Name string // empty for what may be plain UTF-8
	Mark int    // length of the byte-order mark in front, in bytes
	Low  int    // in UTF-16: the index of the low byte in each unit, 0 or 1
}

// The encodings that EncodingOf finds.
const (
	MarkedUTF8 = "UTF-8 with a byte order mark"
	UTF16      = "UTF-16"
)

// EncodingOf returns the encoding of a text that another program saved: by its byte-order
// mark or, for ASCII in UTF-16, by its zeros.
func EncodingOf(content []byte) Encoding {
	switch {
	case bytes.HasPrefix(content, []byte("\xef\xbb\xbf")):
		return Encoding{MarkedUTF8, 3, 0}
	case bytes.HasPrefix(content, []byte("\xff\xfe")):
		return Encoding{UTF16, 2, 0}
	case bytes.HasPrefix(content, []byte("\xfe\xff")):
		return Encoding{UTF16, 2, 1}
	case asciiInUTF16(content, 0):
		return Encoding{UTF16, 0, 0}
	case asciiInUTF16(content, 1):
		return Encoding{UTF16, 0, 1}
	}
	return Encoding{}
}

// asciiInUTF16 reports whether every second byte is zero, and the others, which begin at
// low, are ASCII.
func asciiInUTF16(content []byte, low int) bool {
	if len(content) < 4 || len(content)%2 != 0 {
		return false
	}
	for i := 0; i < len(content); i += 2 {
		if char := content[i+low]; content[i+1-low] != 0 || char == 0 || char >= 0x80 {
			return false
		}
	}
	return true
}

// CheckEncoding refuses a file, which the error calls name, unless it may be plain UTF-8. In
// files whose every byte counts, such as a PIN or a passphrase, the mark and the zeros that
// no editor shows would be part of the secret, and a counted try would be spent on it.
func CheckEncoding(name string, content []byte) error {
	switch encoding := EncodingOf(content); {
	case encoding.Mark > 0:
		kind, _, _ := strings.Cut(encoding.Name, " ")
		return fmt.Errorf("%s starts with a byte-order mark, which editors do not show (%s): save it as UTF-8 without one", name, kind)
	case encoding.Name != "":
		return fmt.Errorf("%s is saved as UTF-16: save it as UTF-8", name)
	}
	return nil
}
