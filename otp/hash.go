package otp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// MinSecretSize is how many bytes a secret must have.
const MinSecretSize = 32

// Secret is the engine's secret that codes are hashed with; all nodes that
// share a store share it. keystore.Secret is one. Without it a stolen store
// tells nothing of the codes in it, of which there are few enough to try all.
type Secret interface {
	// Reveal calls use with the secret bytes, which use must not keep.
	Reveal(use func(secret []byte) error) error
}

// Labels keep hashes of one purpose from being hashes of another.
const (
	labelCode         = "countersign otp code v1"
	labelUser         = "countersign otp user v1"
	labelAnonymous    = "countersign otp anonymous v1"
	labelContact      = "countersign otp contact v1"
	labelOrganization = "countersign otp organization v1"
	labelNobody       = "countersign otp nobody v1"
)

// keyed is HMAC-SHA-256 under the secret over the parts, each with its length
// before it (8 bytes, big-endian).
func keyed(secret Secret, parts ...string) (sum [sha256.Size]byte, err error) {
	err = secret.Reveal(func(key []byte) error {
		if len(key) < MinSecretSize {
			return errTooShort(len(key))
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

func errTooShort(n int) error {
	return fmt.Errorf("otp: the secret has %d bytes; at least %d random ones are expected", n, MinSecretSize)
}

// checkSecret finds out early what keyed would find.
func checkSecret(secret Secret) error {
	if secret == nil {
		return errors.New("otp: the secret is missing: 32 random bytes that all nodes share")
	}
	_, err := keyed(secret, labelNobody)
	return err
}
