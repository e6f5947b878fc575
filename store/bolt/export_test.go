package bolt

import (
	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
)

// RecordTogether records activities in one commit, as the writer does with what waits for it.
// Nothing else may be written meanwhile.
func (s *Store) RecordTogether(activities []store.Activity) error {
	var together []*write
	for i := range activities {
		together = append(together, &write{do: func(tx *transaction) error { return tx.record(&activities[i]) }, answer: make(chan error, 1)})
	}
	s.writer.commit(together)
	for _, one := range together {
		if err := <-one.answer; err != nil {
			return err
		}
	}
	return nil
}

// WithoutSync makes commits quick: they do not wait for the disk.
func (s *Store) WithoutSync() { s.file.db.NoSync = true }

// Allocated returns how many bytes of pages were written since the file was opened.
func (s *Store) Allocated() int64 { stats := s.file.db.Stats(); return stats.TxStats.GetPageAlloc() }

// Cursors returns how many buckets and entries were looked up since the file was opened.
func (s *Store) Cursors() int64 { stats := s.file.db.Stats(); return stats.TxStats.GetCursorCount() }

// Edit changes the file beneath the store.
func (s *Store) Edit(change func(*bbolt.Tx) error) error { return s.file.db.Update(change) }
