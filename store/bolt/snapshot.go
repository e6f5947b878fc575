package bolt

import (
	"context"
	"io"
	"math/bits"

	"go.etcd.io/bbolt"
)

// initialMapping is the address space that the file is mapped into, in bytes. It takes no
// memory. Until the file is larger, snapshots do not block writers.
const initialMapping = (1 << 36) >> (36 * (1 - bits.UintSize/64)) &^ 1 // 64 GiB; 0, bbolt's default, on 32 bits

// Snapshot calls to with a consistent copy of the file, which Open can open, and its size
// in bytes. Requests are carried out meanwhile; until the copy is complete, the file
// grows by what they change.
func (s *Store) Snapshot(ctx context.Context, to func(size int64, copy io.WriterTo) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.file.view(func(tx *bbolt.Tx) error { return to(tx.Size(), tx) })
}
