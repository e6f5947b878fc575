package statement

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Malformed makes the error of a reader of messages.
func Malformed(kind, field string, at int, format string, args ...any) *chains.ParseError {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: kind, Field: field, Offset: at, Problem: fmt.Sprintf(format, args...)}
}

// HashLike says why a message is like a hash, which does not show what is signed;
// empty if it is not.
func HashLike(message []byte) string {
	if len(message) == 32 && (plaintext.Problem(message) != "" || !strings.Contains(string(message), " ")) {
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
