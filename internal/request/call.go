package request

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/store"
)

// ErrMoved: another call like this one has another body by now. Nothing was written.
var ErrMoved = errors.New("countersign: the same call was made by others at the same time")

// Call identifies what a call without a stamp asks for. The ledger has the time of its
// latest body, with which that body can be written again: the same call again is then the
// same request.
type Call struct {
	key  store.Key
	read int64 // the time that the ledger had, in milliseconds; 0: none
	time int64 // of the body that is carried out
}

// NewCall returns the call that asks for something, which is given in a canonical form.
func NewCall(asked []byte) *Call {
	return &Call{key: store.Key{Kind: store.KindCall, ID: sha256.Sum256(append([]byte("countersign call v1"), asked...))}}
}

// ID returns a hash of what the call asks for.
func (c *Call) ID() [sha256.Size]byte { return c.key.ID }

// Latest returns the time of the latest body, in milliseconds, or 0 if there is none.
func (c *Call) Latest(ctx context.Context, s store.Store, organizationID string) (int64, error) {
	err := s.Change(ctx, organizationID, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		entry, err := ledger.Read(c.key)
		c.read = timeIn(entry)
		return nil, err
	}))
	if err != nil {
		return 0, refuse.Store(err)
	}
	return c.read, nil
}

// Use sets the time of the body that is carried out.
func (c *Call) Use(at int64) { c.time = at }

// Take returns the change that makes another change, which may be nil, and notes the time of
// the body. It fails with ErrMoved if the ledger no longer has the time that Latest read.
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
		if err != nil || c.read == c.time {
			return nil, err
		}
		return nil, ledger.Write(c.key, store.Entry{Value: binary.BigEndian.AppendUint64(nil, uint64(c.time)), KeepUntil: keepUntil}) //nolint:gosec // not negative
	})
}

// unmoved returns ErrMoved unless an entry has the time that Latest read.
func (c *Call) unmoved(entry store.Entry, err error) error {
	if err == nil && timeIn(entry) != c.read {
		return ErrMoved
	}
	return err
}

// timeIn returns the time in an entry, or 0 if it does not exist.
func timeIn(entry store.Entry) int64 {
	if len(entry.Value) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(entry.Value)) //nolint:gosec // written from an int64
}
