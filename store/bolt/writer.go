package bolt

import (
	"errors"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
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

// writer is the one goroutine that writes. While it waits for the disk, the
// next changes queue up, and are committed together.
type writer struct {
	db        *bbolt.DB
	queue     chan *write
	mu        sync.RWMutex // held for reading while something is put into the queue
	stopped   bool
	done      chan struct{}
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

func newWriter(db *bbolt.DB) *writer {
	w := &writer{db: db, queue: make(chan *write, maxBatch), done: make(chan struct{})}
	go w.run()
	return w
}

// write makes a change and returns when it is on the disk. The function may be
// called more than once; only its last call counts.
func (w *writer) write(do func(*transaction) error, count *counter) error {
	one := &write{do: do, count: count, answer: make(chan error, 1)}
	w.mu.RLock()
	if w.stopped {
		w.mu.RUnlock()
		return store.ErrClosed
	}
	w.queue <- one
	w.mu.RUnlock()
	return <-one.answer
}

// stop waits until all that was queued is written.
func (w *writer) stop() {
	w.mu.Lock()
	w.stopped = true
	close(w.queue)
	w.mu.Unlock()
	<-w.done
}

func (w *writer) run() {
	defer close(w.done)
	for first := range w.queue {
		w.commit(w.gather([]*write{first}))
	}
}

// gather takes what is queued by now.
func (w *writer) gather(batch []*write) []*write {
	for len(batch) < maxBatch {
		select {
		case next, open := <-w.queue:
			if !open {
				return batch
			}
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
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
