// Package leases keeps the leases of a store that belongs to one process. They need not
// outlive the process, for neither do their holders.
package leases

import (
	"context"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// Table is a table of leases. Use New to create one.
type Table struct {
	mu       sync.Mutex
	held     map[key]*entry
	reserved int
	closed   chan struct{}
}

type key struct {
	organization string
	fingerprint  store.Fingerprint
}

type entry struct {
	token  store.Token
	until  time.Time
	size   int
	pinned bool          // being completed: must not be taken over
	over   chan struct{} // closed when the lease ends or is taken over; nil until someone waits
}

// New creates an empty table.
func New() *Table {
	return &Table{held: map[key]*entry{}, closed: make(chan struct{})}
}

// Take returns the lease on a request, or how to wait for its holder.
func (t *Table) Take(claim store.Claim) (store.BeginResult, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed() {
		return store.BeginResult{}, store.ErrClosed
	}
	claimed := key{claim.OrganizationID, claim.Fingerprint}
	if other := t.held[claimed]; other != nil {
		if other.pinned || claim.Now.Before(other.until) {
			return store.BeginResult{Wait: t.waiter(other, claim)}, nil
		}
		t.drop(claimed, other)
	}
	taken := &struct {
		entry
		lease store.Lease
	}{
		entry{token: store.NewToken(), until: claim.Now.Add(claim.LeaseTTL), size: claim.Size},
		store.Lease{OrganizationID: claim.OrganizationID, Fingerprint: claim.Fingerprint, At: claim.At},
	}
	taken.lease.Token, taken.lease.Until = taken.token, taken.until
	t.held[claimed] = &taken.entry
	t.reserved += claim.Size
	return store.BeginResult{Lease: &taken.lease}, nil
}

// Waiting returns how to wait for the holder of a lease, for a claim that must not take
// it, or ErrStale if the lease is not held.
func (t *Table) Waiting(claim store.Claim) (store.BeginResult, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed() {
		return store.BeginResult{}, store.ErrClosed
	}
	other := t.held[key{claim.OrganizationID, claim.Fingerprint}]
	if other == nil || !other.pinned && !claim.Now.Before(other.until) {
		return store.BeginResult{}, store.ErrStale
	}
	return store.BeginResult{Wait: t.waiter(other, claim)}, nil
}

// retryPinned is how long to wait for a Complete whose lease has expired.
const retryPinned = 10 * time.Millisecond

func (t *Table) waiter(other *entry, claim store.Claim) func(context.Context) error {
	remaining := max(other.until.Sub(claim.Now), retryPinned)
	if other.over == nil {
		other.over = make(chan struct{})
	}
	over := other.over
	return func(ctx context.Context) error {
		timer := time.NewTimer(remaining)
		defer timer.Stop()
		select {
		case <-over:
			return nil
		case <-timer.C:
			return nil
		case <-t.closed:
			return store.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Renew extends the lease to ttl from now.
func (t *Table) Renew(lease store.Lease, ttl time.Duration, now time.Time) (store.Lease, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine, err := t.find(lease)
	if err != nil {
		return store.Lease{}, err
	}
	mine.until = now.Add(ttl)
	lease.Until = mine.until
	return lease, nil
}

// Pin keeps the lease from being taken over until Unpin or End.
func (t *Table) Pin(lease store.Lease) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine, err := t.find(lease)
	if err != nil {
		return err
	}
	if mine.pinned {
		return store.ErrLeaseLost // its holder is already completing it
	}
	mine.pinned = true
	return nil
}

// Unpin undoes Pin.
func (t *Table) Unpin(lease store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine, err := t.find(lease); err == nil {
		mine.pinned = false
	}
}

// End ends the lease and wakes waiting callers.
func (t *Table) End(lease store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine, err := t.find(lease); err == nil {
		t.drop(key{lease.OrganizationID, lease.Fingerprint}, mine)
	}
}

// Held returns how many leases are held.
func (t *Table) Held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.held)
}

// Reserved returns the sum of the sizes of the claims that hold a lease.
func (t *Table) Reserved() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reserved
}

// Size returns the size of the lease's claim.
func (t *Table) Size(lease store.Lease) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine, err := t.find(lease); err == nil {
		return mine.size
	}
	return 0
}

// Sweep removes leases that expired LeaseGrace ago, and returns how many.
func (t *Table) Sweep(now time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	swept := 0
	for claimed, entry := range t.held {
		if !entry.pinned && !now.Before(entry.until.Add(store.LeaseGrace)) {
			t.drop(claimed, entry)
			swept++
		}
	}
	return swept
}

// Close wakes waiting callers. No lease can be taken afterwards.
func (t *Table) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isClosed() {
		close(t.closed)
	}
}

func (t *Table) isClosed() bool {
	select {
	case <-t.closed:
		return true
	default:
		return false
	}
}

func (t *Table) find(lease store.Lease) (*entry, error) {
	if t.isClosed() {
		return nil, store.ErrClosed
	}
	mine := t.held[key{lease.OrganizationID, lease.Fingerprint}]
	if mine == nil || mine.token != lease.Token {
		return nil, store.ErrLeaseLost
	}
	return mine, nil
}

func (t *Table) drop(claimed key, gone *entry) {
	delete(t.held, claimed)
	t.reserved -= gone.size
	if gone.over != nil {
		close(gone.over)
	}
}
