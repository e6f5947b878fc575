package otp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
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

// The alphabets of codes. The alphanumeric one is Crockford's base 32, without I, L, O and U.
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

// MinSecretSize is the smallest size of a Secret, in bytes.
const MinSecretSize = 32

// Secret is the key under which codes are hashed, shared by all nodes of a store.
// keystore.Secret implements it. There are few enough codes to try them all: without
// the secret, a stolen store reveals none.
type Secret interface {
	// Reveal calls use with the secret bytes, which use must not retain.
	Reveal(use func(secret []byte) error) error
}

// Labels separate the hashes of different purposes.
const (
	labelCode         = "countersign otp code v1"
	labelUser         = "countersign otp user v1"
	labelAnonymous    = "countersign otp anonymous v1"
	labelContact      = "countersign otp contact v1"
	labelOrganization = "countersign otp organization v2"
	labelUserSends    = "countersign otp user sends v1"
	labelCredential   = "countersign otp credential v1"
	labelDecoy        = "countersign otp nobody v1"
	labelTarget       = "countersign otp target v1"
)

// keyed returns the HMAC-SHA-256 of the parts under the secret, each part prefixed
// with its length (8 bytes, big-endian).
func keyed(secret Secret, parts ...string) (sum [sha256.Size]byte, err error) {
	err = secret.Reveal(func(key []byte) error {
		if len(key) < MinSecretSize {
			return fmt.Errorf("otp: the secret has %d bytes: it must be at least %d random bytes",
				len(key), MinSecretSize)
		}
		mac := hmac.New(sha256.New, key)
		var length [8]byte
		for _, part := range parts {
			binary.BigEndian.PutUint64(length[:], uint64(len(part)))
			mac.Write(length[:])
			mac.Write([]byte(part))
		}
		mac.Sum(sum[:0])
		return nil
	})
	return sum, err
}

// checkSecret returns the error that keyed would return for the secret.
func checkSecret(secret Secret) error {
	if secret == nil {
		return errors.New("otp: Config.Secret is missing: set at least 32 random bytes, the same on all nodes")
	}
	_, err := keyed(secret, labelDecoy)
	return err
}
