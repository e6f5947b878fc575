// Package batch collects items from many callers and passes them in batches to one
// function, so that they share a commit.
package batch

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStopped is returned by Put after Stop.
var ErrStopped = errors.New("batch: stopped")

// Options limit the size of a batch and the time for which it is gathered.
type Options struct {
	// Max is the most items in a batch, at least 1.
	Max int

	// Gather is how long a batch waits for items that are expected. If it is zero, a
	// batch takes only what is queued.
	Gather time.Duration

	// Expected returns how many items to expect, including those already put. A
	// batch that has them all does not wait.
	Expected func() int
}

// Writer passes items to a function, one batch at a time. Use New to create one.
type Writer[T any] struct {
	options Options
	do      func([]T)
	queue   chan T
	mu      sync.RWMutex // read-locked while an item is put into the queue
	stopped bool
	done    chan struct{}
}

// New starts a writer. The function owns the batches that it receives.
func New[T any](options Options, do func(batch []T)) *Writer[T] {
	w := &Writer[T]{options: options, do: do, queue: make(chan T, options.Max), done: make(chan struct{})}
	go w.run()
	return w
}

// Put adds an item, unless the context has ended. It blocks while the queue is full.
func (w *Writer[T]) Put(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.stopped {
		return ErrStopped
	}
	select {
	case w.queue <- item:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop refuses new items and returns when all earlier ones are done.
func (w *Writer[T]) Stop() {
	w.mu.Lock()
	if !w.stopped {
		w.stopped = true
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *Writer[T]) run() {
	defer close(w.done)
	for first := range w.queue {
		w.do(w.gather(append(make([]T, 0, 1+len(w.queue)), first)))
	}
}

// gather adds the queued items, and then those that arrive while more are expected.
func (w *Writer[T]) gather(batch []T) []T {
	batch = w.queued(batch)
	if w.full(batch) {
		return batch
	}
	timer := time.NewTimer(w.options.Gather)
	defer timer.Stop()
	for !w.full(batch) {
		select {
		case next, open := <-w.queue:
			if !open {
				return batch
			}
			batch = append(batch, next)
		case <-timer.C:
			return w.queued(batch)
		}
	}
	return batch
}

// queued adds the items that are queued by now.
func (w *Writer[T]) queued(batch []T) []T {
	for len(batch) < w.options.Max {
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

// full reports whether a batch should not wait for more items.
func (w *Writer[T]) full(batch []T) bool {
	return len(batch) >= w.options.Max || w.options.Gather <= 0 || w.options.Expected() <= len(batch)
}
