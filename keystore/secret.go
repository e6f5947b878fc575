package keystore

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"unsafe"

	"github.com/countersign-dev/countersign/internal/secret"
)

const redacted = secret.Redacted

// Secret holds secret bytes. Copies of a Secret share the bytes, and Destroy overwrites them for
// all copies. The zero Secret holds nothing.
//
// A Secret always prints, logs and marshals as "[redacted]". A struct with a Secret in an
// unexported field, which fmt prints without calling its methods, shows only addresses.
type Secret struct {
	shared *sharedSecret
}

// sharedSecret is shared by all copies of a Secret.
type sharedSecret struct {
	mu sync.RWMutex

	// data points to the bytes in the vault and is nil once they are destroyed. fmt follows
	// slices and some pointers, but not an unsafe.Pointer.
	data unsafe.Pointer
	size int
}

// bytes returns the secret itself, nil once it is destroyed.
func (s *sharedSecret) bytes() []byte { return unsafe.Slice((*byte)(s.data), s.size) }

// NewSecret copies the bytes into a new Secret. The caller still owns the slice and should [Wipe]
// it.
func NewSecret(secret []byte) Secret {
	slot := vault.take(len(secret))
	copy(slot, secret)
	return Secret{shared: &sharedSecret{data: unsafe.Pointer(unsafe.SliceData(slot)), size: len(slot)}}
}

// Reveal calls use with the secret bytes. They are the secret itself, not a copy: use must not
// keep them, change them or pass them to anything that does. After Destroy, Reveal returns
// ErrClosed without calling use.
func (s Secret) Reveal(use func(secret []byte) error) error {
	if s.shared == nil {
		return ErrClosed
	}
	s.shared.mu.RLock()
	defer s.shared.mu.RUnlock()
	if s.shared.data == nil {
		return ErrClosed
	}
	return use(s.shared.bytes())
}

// comparing is held while two secrets are compared. Otherwise two goroutines that each hold one
// and wait for the other could deadlock if both secrets are about to be destroyed.
var comparing sync.Mutex

// Equal compares two secrets, in constant time if their lengths are equal. A destroyed secret
// equals nothing.
func (s Secret) Equal(other Secret) bool {
	if s.shared == nil || other.shared == nil {
		return false
	}
	if s.shared == other.shared {
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

// Destroy waits until no caller of Reveal uses the bytes and overwrites them. Destroying again
// does nothing.
func (s Secret) Destroy() {
	if s.shared == nil {
		return
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	if s.shared.data != nil {
		vault.giveBack(s.shared.bytes())
		s.shared.data, s.shared.size = nil, 0
	}
}

// Wipe overwrites a slice that holds a secret.
func Wipe(bytes []byte) { secret.Wipe(bytes) }

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
