package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// How many calls share a statement, and how long the first waits for other calls in flight.
const (
	maxBatch = 256
	gather   = 2 * time.Millisecond
)

// calls counts the calls of Begin and Complete.
type calls struct{ inFlight atomic.Int64 }

// expected returns how many calls a batch waits for: half of those in flight, since a
// request calls both Begin and Complete. Waiting for all of them, a batch would nearly
// always wait for as long as it may.
func (c *calls) expected() int { return int(c.inFlight.Load()+1) / 2 }

// call waits in a batch for its answer.
type call struct {
	ctx    context.Context
	answer chan error // buffered
}

func newCall(ctx context.Context) call { return call{ctx, make(chan error, 1)} }

// gone answers a call whose context has ended.
func (c *call) gone() bool {
	err := c.ctx.Err()
	if err != nil {
		c.answer <- err
	}
	return err != nil
}

// put passes a call to a writer and returns its answer. If its context ends first, the answer goes
// to abandoned.
func put[T any](all *calls, w *batch.Writer[T], item T, c *call, abandoned func(error)) error {
	all.inFlight.Add(1)
	defer all.inFlight.Add(-1)
	if err := w.Put(c.ctx, item); err != nil {
		if errors.Is(err, batch.ErrStopped) {
			err = store.ErrClosed
		}
		return err
	}
	select {
	case err := <-c.answer:
		return err
	case <-c.ctx.Done():
		go func() { abandoned(<-c.answer) }()
		return c.ctx.Err()
	}
}

// byRequest orders the calls of a batch by their rows: two nodes that write rows in
// different orders could deadlock.
func byRequest(organization, otherOrganization string, fingerprint, other *store.Fingerprint) int {
	if order := strings.Compare(organization, otherOrganization); order != 0 {
		return order
	}
	return slices.Compare(fingerprint[:], other[:])
}
