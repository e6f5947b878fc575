// Package plaintext tells text that a person can be shown whole from text that can
// hide something.
package plaintext

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Problem says why bytes are not shown as text, and so not signed as text; empty if they
// are. It takes UTF-8 without control characters, except tab, line feed and carriage
// return before one, and without marks that turn the direction of writing.
func Problem(text []byte) string {
	if !utf8.Valid(text) {
		return "the message is not UTF-8"
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '\n' || r == '\t':
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return fmt.Sprintf("the message has the control character %U at byte %d", r, i)
		}
		i += size
	}
	return ""
}
