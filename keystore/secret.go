package keystore

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"os"
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

func (Secret) String() string   { return redacted }
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb.
func (Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }
func (Secret) LogValue() slog.Value           { return slog.StringValue(redacted) }

// MarshalText returns "[redacted]"; encoding/json and encoding/xml use it.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// GobEncode returns "[redacted]".
func (Secret) GobEncode() ([]byte, error) { return []byte(redacted), nil }

// vault holds the bytes of secrets in slabs outside the Go heap, where neither the garbage
// collector nor a heap dump sees them. Each slab is divided into slots of equal size. A slot is
// overwritten when it is given back, and then reused.
var vault = &slabs{free: map[int][][]byte{}}

type slabs struct {
	mu   sync.Mutex
	free map[int][][]byte // by slot size
}

// slabSize is a multiple of every system's page size; 64 KiB holds 2,048 keys.
const slabSize = 64 << 10

// slotUnit is the granularity of slot sizes: the size of a key's secret.
const slotUnit = 32

// take returns a zeroed slice of the given length.
func (s *slabs) take(length int) []byte {
	size := slotSize(length)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free[size]) == 0 {
		page := os.Getpagesize()
		slab := lockedPages(max(slabSize, (size+page-1)/page*page))
		for start := 0; start+size <= len(slab); start += size {
			s.free[size] = append(s.free[size], slab[start:start+size:start+size])
		}
	}
	last := len(s.free[size]) - 1
	slot := s.free[size][last]
	s.free[size] = s.free[size][:last]
	return slot[:length:size]
}

func slotSize(length int) int { return (max(length, 1) + slotUnit - 1) / slotUnit * slotUnit }

// giveBack overwrites a slice that take returned and frees its slot.
func (s *slabs) giveBack(slot []byte) {
	size := slotSize(len(slot))
	slot = unsafe.Slice(unsafe.SliceData(slot), size)
	clear(slot)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[size] = append(s.free[size], slot)
}

// SecretBytes is a secret to be passed to a keystore. A []byte can be assigned to it. The creator
// of the slice owns it, and should [Wipe] it when the keystore has copied it. It prints, logs and
// marshals as "[redacted]", except with a verb of fmt that does not fit, such as %p, for which fmt
// calls no method. The keystore's [Secret] stays hidden even then.
type SecretBytes = secret.Bytes
