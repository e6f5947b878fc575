package bolt

import (
	"context"
	"errors"
	"io"
	"math/bits"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/countersign-dev/countersign/store"
)

// initialMapping is how much address space the file is mapped into, in bytes: up
// to this size of the file a snapshot holds up no writer. It is no memory.
const initialMapping = (1 << 36) >> (36 * (1 - bits.UintSize/64)) &^ 1 // 64 GiB; 0, bbolt's default, on 32 bits

// Snapshot calls to with a copy of the file as it is at one moment, and its size
// in bytes: what Open opens. Requests are carried out meanwhile; the file grows
// by what they change for as long as the copy takes.
func (s *Store) Snapshot(ctx context.Context, to func(size int64, copy io.WriterTo) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	err := s.db.View(func(tx *bbolt.Tx) error { return to(tx.Size(), tx) })
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		return store.ErrClosed
	}
	return err
}
