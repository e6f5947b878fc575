package secret_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/internal/secret"
)

// TestText: one line ending is not part of a secret; everything else is.
func TestText(t *testing.T) {
	for content, want := range map[string]string{
		"pin": "pin", "pin\n": "pin", "pin\r\n": "pin", "pin\n\n": "pin\n", "pin\r": "pin\r", " pin ": " pin ", "": "", "\n": "", "1\n2\n": "1\n2", "p\u00e4\n": "p\u00e4",
	} {
		if got, err := secret.Text([]byte(content)); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", content, got, err, want)
		}
	}
}

// TestTextOfAnotherEncoding: a file that an editor saved in another encoding is refused, and
// its content wiped.
func TestTextOfAnotherEncoding(t *testing.T) {
	for _, text := range []string{"\ufeffpin", "\xff\xfep\x00i\x00n\x00", "\xfe\xff\x00p\x00i\x00n", "p\x00i\x00n\x00\r\x00\n\x00", "\x00p\x00i\x00n"} {
		content := []byte(text)
		if got, err := secret.Text(content); err == nil || got != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if !bytes.Equal(content, make([]byte, len(content))) {
			t.Errorf("%q: %q is left", text, content)
		}
	}
}

// FuzzText: a secret is the beginning of the file that it is read from, but for a line ending.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"pin\r\n", "\ufeffpin", "\xff\xfep\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		whole := bytes.Clone(content)
		text, err := secret.Text(content)
		if rest := bytes.TrimPrefix(whole, text); err == nil && len(rest) > 0 && string(rest) != "\n" && string(rest) != "\r\n" {
			t.Errorf("%q: %q", whole, text)
		}
	})
}
