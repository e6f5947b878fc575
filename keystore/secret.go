package keystore

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

const redacted = "[redacted]"

// Secret holds secret bytes. Copies of a Secret share the bytes; Destroy
// overwrites them for all. The zero Secret holds nothing.
//
// However it is printed, logged or marshalled, it shows "[redacted]". The
// bytes sit behind two pointers, so that a struct with a Secret in an unexported
// field, which fmt prints without asking Secret, shows no more than an address:
// one pointer fmt follows, if the verb does not fit.
type Secret struct {
	at **heldSecret
}

type heldSecret struct {
	mu    sync.RWMutex
	bytes []byte // in the vault; nil once destroyed
}

// NewSecret copies the bytes into a new Secret. The caller still owns what was
// passed, and should [Wipe] it.
func NewSecret(secret []byte) Secret {
	made := new(struct {
		at   *heldSecret
		held heldSecret
	})
	made.at = &made.held // side by side: who comes to the pointer has what it points to
	made.held.bytes = vault.take(len(secret))
	copy(made.held.bytes, secret)
	return Secret{at: &made.at}
}

// Reveal calls use with the secret bytes. They are the secret itself, not a
// copy: use must not keep them, change them or pass them to anything that does.
// After Destroy, Reveal returns ErrClosed without calling use.
func (s Secret) Reveal(use func(secret []byte) error) error {
	if s.at == nil {
		return ErrClosed
	}
	held := *s.at
	held.mu.RLock()
	defer held.mu.RUnlock()
	if held.bytes == nil {
		return ErrClosed
	}
	return use(held.bytes)
}

// comparing is held by who holds two secrets at once: two who hold one each and
// wait for the other's could wait for ever, if both are about to be destroyed.
var comparing sync.Mutex

// Equal compares two secrets in constant time for equal lengths. A destroyed
// secret equals nothing.
func (s Secret) Equal(other Secret) bool {
	if s.at == nil || other.at == nil {
		return false
	}
	if s.at == other.at {
		return s.Reveal(func([]byte) error { return nil }) == nil
	}
	comparing.Lock()
	defer comparing.Unlock()
	equal := false
	_ = s.Reveal(func(mine []byte) error {
		return other.Reveal(func(theirs []byte) error {
			equal = subtle.ConstantTimeCompare(mine, theirs) == 1
			return nil
		})
	})
	return equal
}

// Destroy overwrites the bytes and waits for those who are using them.
// Destroying again does nothing.
func (s Secret) Destroy() {
	if s.at == nil {
		return
	}
	held := *s.at
	held.mu.Lock()
	defer held.mu.Unlock()
	if held.bytes != nil {
		vault.giveBack(held.bytes)
		held.bytes = nil
	}
}

// Wipe overwrites bytes that held a secret.
func Wipe(secret []byte) { clear(secret) }

// String returns "[redacted]".
func (Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb.
func (Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }

// LogValue returns "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns "[redacted]"; encoding/json and encoding/xml use it.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// GobEncode returns "[redacted]".
func (Secret) GobEncode() ([]byte, error) { return []byte(redacted), nil }
