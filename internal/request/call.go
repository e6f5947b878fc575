package request

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/store"
)

// ErrMoved says that an identical call has got a newer body in the meantime. Nothing was written.
var ErrMoved = errors.New("countersign: the same call was made by others at the same time")

// Call identifies a call without a stamp by what it asks for. The ledger keeps the time of
// the call's latest body, and how its user was authenticated. When the call is repeated, the
// same body is rebuilt from these, so that it is the same request.
type Call struct {
	key  store.Key
	read []byte // what the ledger had, nil if nothing
	uses []byte // what the ledger is to have: that of the body that is carried out
}

// NewCall returns the call that asks for something, which is given in a canonical form.
func NewCall(asked []byte) *Call {
	return &Call{key: store.Key{Kind: store.KindCall,
		ID: sha256.Sum256(append([]byte("countersign call v1"), asked...))}}
}

// ID returns a hash of what the call asks for.
func (c *Call) ID() [sha256.Size]byte { return c.key.ID }

// Latest returns the time of the latest body, in milliseconds, and how its user was
// authenticated. The time is 0 if there is none.
func (c *Call) Latest(ctx context.Context, s store.Store, organizationID string) (at int64, scheme string, err error) {
	err = s.Change(ctx, organizationID, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		entry, err := ledger.Read(c.key)
		c.read = entry.Value
		return nil, err
	}))
	if err != nil {
		return 0, "", refuse.Store(err)
	}
	if len(c.read) < timeSize {
		return 0, "", nil
	}
	return int64(binary.BigEndian.Uint64(c.read)), string(c.read[timeSize:]), nil //nolint:gosec // written from an int64
}

// timeSize is the length of the time, with which an entry begins.
const timeSize = 8

// Use sets what Latest returns of the body that is carried out.
func (c *Call) Use(at int64, scheme string) {
	c.uses = append(binary.BigEndian.AppendUint64(nil, uint64(at)), scheme...) //nolint:gosec // not negative
}

// Take returns the change that makes another change, which may be nil, and notes the time of
// the body. It fails with ErrMoved if the ledger no longer has what Latest read.
func (c *Call) Take(then store.Change, keepUntil time.Time) store.Change {
	return store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		if then != nil {
			if refusal, err = then.Apply(ledger); refusal != nil {
				// What used up a limit may have been this very call, made elsewhere.
				if err := c.unmoved(ledger.Read(c.key)); err != nil {
					return nil, err
				}
			}
			if refusal != nil || err != nil {
				return refusal, err
			}
		}
		entries, err := ledger.Lock(c.key)
		if err == nil {
			err = c.unmoved(entries[0], nil)
		}
		if err != nil || bytes.Equal(c.read, c.uses) {
			return nil, err
		}
		return nil, ledger.Write(c.key, store.Entry{Value: c.uses, KeepUntil: keepUntil})
	})
}

// unmoved returns ErrMoved unless an entry is what Latest read.
func (c *Call) unmoved(entry store.Entry, err error) error {
	if err == nil && !bytes.Equal(entry.Value, c.read) {
		return ErrMoved
	}
	return err
}

// CallTimes has the time of the latest call for each thing that was asked for.
type CallTimes struct {
	mu     sync.Mutex
	latest map[[sha256.Size]byte]int64 // UnixMilli
}

// maxCallTimes is how many times are kept before those that have passed are dropped.
const maxCallTimes = 1024

// Next returns the time of a call in milliseconds: now, or the next one that no other call
// for the same has.
func (c *CallTimes) Next(asked [sha256.Size]byte, now int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest == nil {
		c.latest = map[[sha256.Size]byte]int64{}
	}
	if len(c.latest) >= maxCallTimes {
		maps.DeleteFunc(c.latest, func(_ [sha256.Size]byte, at int64) bool { return at < now })
	}
	at := max(now, c.latest[asked]+1)
	c.latest[asked] = at
	return at
}
