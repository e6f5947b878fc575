package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// How often a lease that another node may hold is looked at: soon at first, for
// most work is short.
const (
	pollFirst = 5 * time.Millisecond
	pollMost  = 250 * time.Millisecond
)

// watches lets all who wait on this node for the same lease share one look at
// the database, and wakes them at once if the lease ends on this node.
type watches struct {
	mu  sync.Mutex
	all map[store.Lease]*watch
}

type watch struct {
	waiting int
	over    chan struct{}
	stop    context.CancelFunc
}

// wait returns when the lease is over or taken over.
func (s *Store) wait(ctx context.Context, held store.Lease) error {
	w := s.join(held)
	defer s.watches.leave(held, w)
	select {
	case <-w.over:
		return nil
	case <-s.closed:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) join(held store.Lease) *watch {
	s.watches.mu.Lock()
	defer s.watches.mu.Unlock()
	if s.watches.all == nil {
		s.watches.all = map[store.Lease]*watch{}
	}
	w := s.watches.all[held]
	if w == nil {
		ctx, stop := context.WithCancel(context.Background())
		w = &watch{over: make(chan struct{}), stop: stop}
		s.watches.all[held] = w
		go s.poll(ctx, held)
	}
	w.waiting++
	return w
}

func (w *watches) leave(held store.Lease, one *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one.waiting--
	if one.waiting == 0 {
		one.stop()
		if w.all[held] == one {
			delete(w.all, held)
		}
	}
}

// wake wakes who waits for a lease. It is known by its token and its nonce: where it
// ends may have been renewed.
func (w *watches) wake(lease store.Lease) {
	lease.Until = time.Time{}
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.all[lease]; one != nil {
		delete(w.all, lease)
		close(one.over)
	}
}

// poll looks at the lease until it is over, or the database cannot be asked:
// who then calls Begin learns why.
func (s *Store) poll(ctx context.Context, held store.Lease) {
	for delay := pollFirst; ; delay = min(2*delay, pollMost) {
		select {
		case <-ctx.Done():
			return
		case <-s.closed:
			return
		case <-time.After(delay):
		}
		if still, err := s.stillHeld(ctx, held); err != nil || !still {
			s.watches.wake(held)
			return
		}
	}
}

func (s *Store) stillHeld(ctx context.Context, lease store.Lease) (held bool, err error) {
	err = s.run(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `
			SELECT EXISTS (SELECT FROM countersign_activities
			WHERE organization_id = $1 AND fingerprint = $2 AND token = $3 AND nonce = $4 AND (revision = 0 OR waiting) AND lease_until > clock_timestamp())`,
			lease.OrganizationID, lease.Fingerprint[:], int64(lease.Token), int64(lease.Nonce)).Scan(&held)
	})
	return held, err
}
