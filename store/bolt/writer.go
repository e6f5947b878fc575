package bolt

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// maxBatch bounds how many changes share a commit, and so how long the first
// of them waits for the others' work.
const maxBatch = 256

type counter = atomic.Uint64

// Stats tells what was written. Changes/Commits is how many changes shared an
// fsync.
type Stats struct {
	Commits   uint64 // transactions written to the disk, each with its fsync
	Changes   uint64 // changes in them
	Completed uint64 // changes that recorded an activity
}

// gather is how long a commit waits for other requests that are under way: they
// then share it, and the processor makes them meanwhile.
const gather = 2 * time.Millisecond

// writer writes changes, a batch in each commit. While one waits for the disk,
// the next changes queue up.
type writer struct {
	db        *bbolt.DB
	batches   *batch.Writer[*write]
	commits   counter
	changes   counter
	completed counter
	failed    atomic.Bool // the last commit could not be written
}

// write is one change: it is made whole or not at all.
type write struct {
	do     func(*transaction) error
	count  *counter // counted up if it was committed; may be nil
	err    error
	answer chan error
}

// newWriter starts a writer; expected is how many requests are under way.
func newWriter(db *bbolt.DB, expected func() int) *writer {
	w := &writer{db: db}
	w.batches = batch.New(batch.Options{Max: maxBatch, Gather: gather, Expected: expected}, w.commit)
	return w
}

// write makes a change and returns when it is on the disk. The function may be
// called more than once; only its last call counts.
func (w *writer) write(do func(*transaction) error, count *counter) error {
	one := &write{do: do, count: count, answer: make(chan error, 1)}
	if err := w.batches.Put(context.Background(), one); err != nil {
		return store.ErrClosed
	}
	return <-one.answer
}

// commit makes the changes of a batch in one transaction. A change that fails
// after it has written takes the transaction with it; the others are then made
// again without it.
func (w *writer) commit(batch []*write) {
	for len(batch) > 0 {
		spoilt, err := w.try(batch)
		if spoilt >= 0 {
			batch[spoilt].answer <- batch[spoilt].err
			batch = append(batch[:spoilt:spoilt], batch[spoilt+1:]...)
			continue
		}
		switch {
		case errors.Is(err, errNothing):
			err = nil
		case err == nil:
			w.failed.Store(false)
			w.commits.Add(1)
		default:
			w.failed.Store(true)
		}
		w.answer(batch, unavailable(err))
		return
	}
}

func (w *writer) answer(batch []*write, err error) {
	for _, one := range batch {
		if one.err == nil {
			one.err = err
		}
		if one.err == nil {
			w.changes.Add(1)
			if one.count != nil {
				one.count.Add(1)
			}
		}
		one.answer <- one.err
	}
}

// errNothing rolls back a transaction in which nothing was written, which saves
// its fsync.
var errNothing = errors.New("nothing to write")

// try makes the changes, and returns which has spoilt the transaction, or -1.
func (w *writer) try(batch []*write) (spoilt int, err error) {
	spoilt = -1
	err = w.db.Update(func(tx *bbolt.Tx) error {
		wrote := false
		for i, one := range batch {
			t := &transaction{tx: tx}
			one.err = one.do(t)
			if one.err != nil && t.wrote {
				spoilt = i
				return one.err
			}
			wrote = wrote || t.wrote
		}
		if !wrote {
			return errNothing
		}
		return nil
	})
	return spoilt, err
}

func (w *writer) stats() Stats {
	return Stats{Commits: w.commits.Load(), Changes: w.changes.Load(), Completed: w.completed.Load()}
}
