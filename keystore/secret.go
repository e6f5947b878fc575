package keystore

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"unsafe"
)

const redacted = "[redacted]"

// Secret holds secret bytes. Copies of a Secret share the bytes; Destroy
// overwrites them for all. The zero Secret holds nothing.
//
// However it is printed, logged or marshalled, it shows "[redacted]". A struct
// with a Secret in an unexported field, which fmt prints without asking Secret,
// shows no more than addresses.
type Secret struct {
	held *heldSecret
}

// heldSecret is what all copies of a Secret refer to.
type heldSecret struct {
	mu sync.RWMutex

	// Where in the vault the bytes are, nil once they are destroyed, and how many:
	// fmt follows slices, and some pointers, but not this one.
	at   unsafe.Pointer
	size int
}

// bytes are the secret itself, nil once it is destroyed.
func (h *heldSecret) bytes() []byte { return unsafe.Slice((*byte)(h.at), h.size) }

// NewSecret copies the bytes into a new Secret. The caller still owns what was
// passed, and should [Wipe] it.
func NewSecret(secret []byte) Secret {
	taken := vault.take(len(secret))
	copy(taken, secret)
	return Secret{held: &heldSecret{at: unsafe.Pointer(unsafe.SliceData(taken)), size: len(taken)}}
}

// Reveal calls use with the secret bytes. They are the secret itself, not a
// copy: use must not keep them, change them or pass them to anything that does.
// After Destroy, Reveal returns ErrClosed without calling use.
func (s Secret) Reveal(use func(secret []byte) error) error {
	if s.held == nil {
		return ErrClosed
	}
	s.held.mu.RLock()
	defer s.held.mu.RUnlock()
	if s.held.at == nil {
		return ErrClosed
	}
	return use(s.held.bytes())
}

// comparing is held while two secrets are: two goroutines that hold one each and wait
// for the other's could wait for ever, if both are about to be destroyed.
var comparing sync.Mutex

// Equal compares two secrets in constant time for equal lengths. A destroyed
// secret equals nothing.
func (s Secret) Equal(other Secret) bool {
	if s.held == nil || other.held == nil {
		return false
	}
	if s.held == other.held {
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
	if s.held == nil {
		return
	}
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	if s.held.at != nil {
		vault.giveBack(s.held.bytes())
		s.held.at, s.held.size = nil, 0
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
