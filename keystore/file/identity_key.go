package file

import (
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
)

// ageRecipient is what key files are encrypted to: X25519 ("age1…"), or ML-KEM-768 with
// X25519 ("age1pq1…"), which an attacker with a quantum computer does not break.
type ageRecipient interface {
	age.Recipient
	fmt.Stringer
}

// ageKey is an identity of age with its recipient.
type ageKey struct {
	identity  age.Identity
	secret    func() string // AGE-SECRET-KEY-1…, or AGE-SECRET-KEY-PQ-1…
	recipient ageRecipient
}

const (
	postQuantumRecipient = "age1pq1"
	postQuantumIdentity  = "AGE-SECRET-KEY-PQ-1"
)

// errMixed: age would refuse each file that is encrypted to both.
var errMixed = errors.New("post-quantum recipients (age1pq1…) do not mix with X25519 ones (age1…), the identity of the keystore among them: a quantum computer would break the weaker one")

func isPostQuantum(recipient age.Recipient) bool {
	_, is := recipient.(*age.HybridRecipient)
	return is
}

func generateKey(postQuantum bool) (ageKey, error) {
	if postQuantum {
		made, err := age.GenerateHybridIdentity()
		if err != nil {
			return ageKey{}, err
		}
		return ageKey{made, made.String, made.Recipient()}, nil
	}
	made, err := age.GenerateX25519Identity()
	if err != nil {
		return ageKey{}, err
	}
	return ageKey{made, made.String, made.Recipient()}, nil
}

// parseKey never quotes what it reads.
func parseKey(line string) (ageKey, error) {
	if strings.HasPrefix(line, postQuantumIdentity) {
		read, err := age.ParseHybridIdentity(line)
		if err != nil {
			return ageKey{}, errors.New("not a post-quantum identity (AGE-SECRET-KEY-PQ-1…)")
		}
		return ageKey{read, read.String, read.Recipient()}, nil
	}
	read, err := age.ParseX25519Identity(line)
	if err != nil {
		return ageKey{}, errors.New("not an X25519 identity (AGE-SECRET-KEY-1…)")
	}
	return ageKey{read, read.String, read.Recipient()}, nil
}

// parseRecipient never quotes what it reads: it may be an identity, by mistake.
func parseRecipient(text string) (ageRecipient, error) {
	if strings.HasPrefix(text, "AGE-SECRET-KEY-") {
		return nil, errors.New("this is an identity, a secret: 'age-keygen -y' prints its recipient")
	}
	if strings.HasPrefix(text, postQuantumRecipient) {
		if read, err := age.ParseHybridRecipient(text); err == nil {
			return read, nil
		}
		return nil, errors.New("mistyped: not a post-quantum recipient (age1pq1…)")
	}
	read, err := age.ParseX25519Recipient(text)
	if err != nil {
		return nil, errors.New("mistyped, an SSH key, or of a plugin: only X25519 recipients (age1…) and post-quantum ones (age1pq1…) can be used")
	}
	return read, nil
}
