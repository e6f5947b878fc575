package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// The first and the longest interval at which a lease that another node may hold is
// polled. The first is short, since most work is.
const (
	pollFirst = 5 * time.Millisecond
	pollMost  = 250 * time.Millisecond
)

// watches lets all callers on this node that wait for the same lease share one poll of the
// database, and wakes them immediately if the lease ends on this node.
type watches struct {
	*database
	mu  sync.Mutex
	all map[store.Lease]*watch
}

type watch struct {
	waiting int
	over    chan struct{}
	stop    context.CancelFunc
}

// wait returns when the lease is over or taken over.
func (w *watches) wait(ctx context.Context, held store.Lease) error {
	watched := w.join(held)
	defer w.leave(held, watched)
	select {
	case <-watched.over:
		return nil
	case <-w.closed:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *watches) join(held store.Lease) *watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[store.Lease]*watch{}
	}
	joined := w.all[held]
	if joined == nil {
		ctx, stop := context.WithCancel(context.Background())
		joined = &watch{over: make(chan struct{}), stop: stop}
		w.all[held] = joined
		go w.poll(ctx, held)
	}
	joined.waiting++
	return joined
}

func (w *watches) leave(held store.Lease, left *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left.waiting--
	if left.waiting == 0 {
		left.stop()
		if w.all[held] == left {
			delete(w.all, held)
		}
	}
}

// wake wakes the callers that wait for a lease. Until is ignored, since it changes when a
// lease is renewed, and so is At, which those who wait need not know.
func (w *watches) wake(lease store.Lease) {
	lease.Until, lease.At = time.Time{}, 0
	w.mu.Lock()
	defer w.mu.Unlock()
	if waiting := w.all[lease]; waiting != nil {
		delete(w.all, lease)
		close(waiting.over)
	}
}

// poll polls the lease until it is over, or until the database cannot be reached: the
// callers then call Begin, which returns the cause.
func (w *watches) poll(ctx context.Context, held store.Lease) {
	for delay := pollFirst; ; delay = min(2*delay, pollMost) {
		select {
		case <-ctx.Done():
			return
		case <-w.closed:
			return
		case <-time.After(delay):
		}
		still := false
		err := w.scan(ctx, &still, `
			SELECT EXISTS (SELECT 1 FROM countersign_activities
			WHERE organization_id = $1 AND fingerprint = $2 AND lease = $3
				AND (revision = 0 OR waiting) AND lease_until > clock_timestamp())`,
			held.OrganizationID, held.Fingerprint[:], held.Token[:])
		if err != nil || !still {
			w.wake(held)
			return
		}
	}
}

// end ends a lease by a statement, with a change in the same transaction, and wakes the
// callers on this node that wait for the lease.
func (w *watches) end(ctx context.Context, lease store.Lease, statement work, change store.Change) error {
	var err error
	if change == nil {
		err = w.run(ctx, statement)
	} else {
		err = w.endWith(ctx, lease.OrganizationID, statement, change)
	}
	if err == nil {
		w.wake(lease)
	}
	return err
}
