package bolt

import (
	"context"
	"io"
	"math/bits"

	"go.etcd.io/bbolt"
)

// initialMapping is the address space that the file is mapped into, in bytes: 64 GiB, or
// 256 MiB where an address has 32 bits. It takes no memory. Until the file is larger,
// snapshots do not block writers.
const initialMapping = 1 << (20 + bits.UintSize/4)

// Snapshot calls to with a consistent copy of the file, which Open can open, and its size
// in bytes. Requests are carried out meanwhile; until the copy is complete, the file
// grows by what they change.
func (s *Store) Snapshot(ctx context.Context, to func(size int64, copy io.WriterTo) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.file.view(func(tx *bbolt.Tx) error { return to(tx.Size(), tx) })
}
