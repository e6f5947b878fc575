package otp

import (
	"fmt"
	"io"
	"strings"
)

// Bounds and default of a code's length.
const (
	MinLength     = 6
	MaxLength     = 9
	DefaultLength = 9
)

// The alphabets of codes. The alphanumeric one is Crockford's base 32, without I, L,
// O and U.
const (
	digits    = "0123456789"
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// generate draws a code, uniformly, from random bytes. It rejects bytes that would
// favor the first symbols of the alphabet.
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

// lookAlikes replaces the letters that Crockford's base 32 reads as digits.
var lookAlikes = strings.NewReplacer("O", "0", "I", "1", "L", "1")

// normalize maps what a user typed to the form of a generated code: upper case, with
// digits in place of letters that look like them, without the spaces and dashes of groups. It
// leaves digits unchanged.
func normalize(typed string) string {
	return groupMarks.Replace(lookAlikes.Replace(strings.ToUpper(typed)))
}

// groupMarks removes what people write between groups of characters.
var groupMarks = strings.NewReplacer(" ", "", "\u00a0", "", "-", "", "\u2010", "", "\u2011", "", "\u2013", "")
