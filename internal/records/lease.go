package records

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// heldLease is a lease that is renewed until it is stopped.
type heldLease struct {
	lateContext // cancelled when the lease is lost
	store       store.Store
	ttl         time.Duration
	now         func() time.Time

	renewing sync.Mutex
	lease    store.Lease
	timer    *time.Timer
	stopped  bool
}

// hold renews a lease until stop is called.
func (k *Keeper) hold(ctx context.Context, lease store.Lease) *heldLease {
	held := &heldLease{lateContext: lateContext{parent: ctx}, store: k.Store, ttl: k.LeaseTTL, now: k.Now, lease: lease}
	held.renewing.Lock()
	defer held.renewing.Unlock()
	held.timer = time.AfterFunc(held.ttl/3, held.renew)
	return held
}

// renew runs three times within the lifetime of a lease, so that a single failure of
// the store does not lose it. Losing the lease cancels the work.
func (h *heldLease) renew() {
	h.renewing.Lock()
	defer h.renewing.Unlock()
	if h.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(h, h.ttl/3)
	defer cancel()
	renewed, err := h.store.Renew(ctx, h.lease, h.ttl, h.now())
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		h.cancel(err)
		return
	case err == nil:
		h.lease = renewed
	}
	h.timer.Reset(h.ttl / 3)
}

// stop ends the renewal and returns the lease as it was last renewed.
func (h *heldLease) stop() store.Lease {
	h.renewing.Lock()
	defer h.renewing.Unlock()
	h.stopped = true
	h.timer.Stop()
	h.cancel(context.Canceled)
	return h.lease
}
