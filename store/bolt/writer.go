package bolt

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// maxBatch bounds how many changes share a commit, and so how long the first of them
// waits for the others.
const maxBatch = 256

type counter = atomic.Uint64

// Stats counts what was written. Changes/Commits is how many changes shared a commit.
type Stats struct {
	Commits   uint64 // transactions written to disk
	Changes   uint64 // changes in them
	Completed uint64 // changes that recorded an activity
}

// gather is how long a commit waits for other requests in flight, so that they share it.
const gather = 2 * time.Millisecond

// writer commits changes in batches. While a commit waits for the disk, the next changes queue up.
type writer struct {
	file      *file
	batches   *batch.Writer[*write]
	commits   counter
	changes   counter
	completed counter
	failed    atomic.Bool // the last commit could not be written
}

// write is one change, which is made entirely or not at all.
type write struct {
	do     func(*transaction) error
	count  *counter // incremented if the change was committed; may be nil
	err    error
	answer chan error
}

// write makes a change and returns when it is on disk. The function may be called more
// than once; only its last call counts.
func (w *writer) write(do func(*transaction) error, count *counter) error {
	queued := &write{do: do, count: count, answer: make(chan error, 1)}
	if err := w.batches.Put(context.Background(), queued); err != nil {
		return store.ErrClosed
	}
	return <-queued.answer
}

// commit makes the changes of a batch in one transaction. If a change fails after it has
// written, the transaction is rolled back and repeated without it.
func (w *writer) commit(batch []*write) {
	for len(batch) > 0 {
		failed, err := w.try(batch)
		if failed >= 0 {
			batch[failed].answer <- batch[failed].err
			batch = append(batch[:failed:failed], batch[failed+1:]...)
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
	for _, queued := range batch {
		queued.err = cmp.Or(queued.err, err)
		if queued.err == nil {
			w.changes.Add(1)
			if queued.count != nil {
				queued.count.Add(1)
			}
		}
		queued.answer <- queued.err
	}
}

// errNothing rolls back a transaction that wrote nothing, which saves its fsyncs.
var errNothing = errors.New("nothing to write")

// try makes the changes. It returns the index of the change that failed after it had
// written, or -1.
func (w *writer) try(batch []*write) (failed int, err error) {
	failed = -1
	err = w.file.update(func(t *transaction) error {
		wrote := false
		for i, queued := range batch {
			t.wrote = false
			queued.err = cmp.Or(queued.do(t), t.err)
			if queued.err != nil && t.wrote {
				failed = i
				return queued.err
			}
			wrote = wrote || t.wrote
		}
		if !wrote {
			return errNothing
		}
		return nil
	})
	return failed, err
}
