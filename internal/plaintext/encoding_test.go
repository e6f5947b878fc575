package plaintext_test

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// inUTF16 encodes a text as other programs save it.
func inUTF16(text string, order binary.AppendByteOrder) string {
	var encoded []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		encoded = order.AppendUint16(encoded, unit)
	}
	return string(encoded)
}

func TestEncodingOf(t *testing.T) {
	for text, want := range map[string]plaintext.Encoding{
		"hello": {}, "": {}, "a\x00b\x00c": {}, "ab\x00\x00": {}, "a\x00": {}, "\xef\xbb": {}, "\xff": {},
		"\ufeffhello": {Name: plaintext.MarkedUTF8, Mark: 3}, "\ufeff": {Name: plaintext.MarkedUTF8, Mark: 3},
		inUTF16("hello!", binary.LittleEndian):             {Name: plaintext.UTF16},
		inUTF16("hello!", binary.BigEndian):                {Name: plaintext.UTF16, Low: 1},
		inUTF16("\ufeffh\u00fc", binary.LittleEndian):      {Name: plaintext.UTF16, Mark: 2},
		inUTF16("\ufeff\u6f22\u5b57", binary.BigEndian):    {Name: plaintext.UTF16, Mark: 2, Low: 1},
		inUTF16("\u6f22\u5b57", binary.BigEndian) + "\n":   {},
		inUTF16("hello", binary.LittleEndian) + "\x0d\x0a": {},
	} {
		if got := plaintext.EncodingOf([]byte(text)); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestCheckEncoding(t *testing.T) {
	const marked = "pin starts with a byte-order mark, which editors do not show "
	for text, want := range map[string]string{
		"1234": "", "": "", "päß": "",
		"\ufeff1234": marked + "(UTF-8): save it as UTF-8 without one",
		inUTF16("\ufeff1234", binary.LittleEndian): marked + "(UTF-16): save it as UTF-8 without one",
		inUTF16("\ufeff1234", binary.BigEndian):    marked + "(UTF-16): save it as UTF-8 without one",
		inUTF16("1234", binary.LittleEndian):       "pin is saved as UTF-16: save it as UTF-8",
	} {
		var got string
		if err := plaintext.CheckEncoding("pin", []byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
