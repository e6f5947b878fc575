package otp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

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
