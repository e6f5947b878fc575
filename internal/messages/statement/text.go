package statement

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
)

// Malformed makes the error of a reader of messages.
func Malformed(kind, field string, at int, format string, args ...any) *chains.ParseError {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: kind, Field: field, Offset: at, Problem: fmt.Sprintf(format, args...)}
}

// TextProblem says why bytes are not shown as text and so not signed as text;
// empty if they are. It takes UTF-8 without control characters, except tab, line
// feed and carriage return before one, and without marks that turn the direction
// of writing.
func TextProblem(text []byte) string {
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

// HashLike says why a message is like a hash, which does not show what is signed;
// empty if it is not.
func HashLike(message []byte) string {
	if len(message) == 32 && (TextProblem(message) != "" || !strings.Contains(string(message), " ")) {
		return "the message is 32 bytes, like a hash: what was hashed is not known"
	}
	digits := bytes.TrimPrefix(bytes.TrimPrefix(bytes.TrimSpace(message), []byte("0x")), []byte("0X"))
	var raw [32]byte
	if len(digits) != hex.EncodedLen(len(raw)) {
		return ""
	}
	if _, err := hex.Decode(raw[:], digits); err == nil {
		return "the message is 64 hex digits, like a hash: what was hashed is not known"
	}
	return ""
}
