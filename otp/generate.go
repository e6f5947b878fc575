package otp

import (
	"fmt"
	"io"
	"strings"
)

// Bounds of a code's length.
const (
	MinLength     = 6
	MaxLength     = 9
	DefaultLength = 9
)

// Alphabets of codes. The alphanumeric one is Crockford's base 32, which has no
// I, L, O and U.
const (
	digits    = "0123456789"
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// generate draws a code from random bytes, every code as likely as every other:
// bytes that would make the first symbols of the alphabet likelier are drawn
// again.
func generate(random io.Reader, length int, alphanumeric bool) (string, error) {
	alphabet := digits
	if alphanumeric {
		alphabet = crockford
	}
	usable := 256 - 256%len(alphabet)
	var buffer [2 * MaxLength]byte
	code := make([]byte, 0, MaxLength)
	for len(code) < length {
		if _, err := io.ReadFull(random, buffer[:]); err != nil {
			return "", fmt.Errorf("otp: random bytes: %w", err)
		}
		for _, b := range buffer {
			if int(b) < usable && len(code) < length {
				code = append(code, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	clear(buffer[:])
	return string(code), nil
}

// readAs is how a symbol that a user typed is read: lower case and, as
// Crockford defines, the letters that look like digits.
var readAs = strings.NewReplacer("O", "0", "I", "1", "L", "1")

// normalize makes of what a user typed what was generated, where that is
// possible. A code of digits is not changed by it.
func normalize(typed string) string {
	return readAs.Replace(strings.ToUpper(typed))
}
