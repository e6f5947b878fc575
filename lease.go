package countersign

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// recordOverhead is about how many bytes a record has beside the body and the
// signed transaction.
const recordOverhead = 2 << 10

func (e *Engine) claim(request *activity.Request) store.Claim {
	return store.Claim{
		OrganizationID: request.OrganizationID,
		Fingerprint:    request.Fingerprint,
		LeaseTTL:       e.config.LeaseTTL,
		LiveUntil:      e.liveUntil(request.Time()),
		Size:           2*len(request.Body) + recordOverhead,
	}
}

// performHeld does the work while the lease is renewed. If the work panics, a
// fault of this program or of a key's backend, the lease is released before the
// panic goes on: the same body must not wait for it.
func (e *Engine) performHeld(ctx context.Context, task work, lease store.Lease, seen *Observation) (done outcome, _ store.Lease, err error) {
	held := e.hold(ctx, lease)
	finished := false
	defer func() {
		if !finished {
			e.release(ctx, held.stop(), nil)
		}
	}()
	started := time.Now()
	done, err = task.perform(held.ctx)
	finished = true
	seen.Performed = time.Since(started)
	lease = held.stop()
	if errors.Is(context.Cause(held.ctx), store.ErrLeaseLost) {
		err = refuseStore(store.ErrLeaseLost)
	}
	return done, lease, err
}

// release lets the same body be tried again. That it fails is no news for the
// caller: the lease runs out by itself.
func (e *Engine) release(ctx context.Context, lease store.Lease, change store.Change) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	if err := e.config.Store.Release(ctx, lease, change); err != nil && !errors.Is(err, store.ErrLeaseLost) {
		e.config.Logger.WarnContext(ctx, "release of a lease", "cause", err)
	}
}

// heldLease is a lease that is renewed while its work goes on.
type heldLease struct {
	ctx    context.Context // ends when the lease is lost
	cancel context.CancelCauseFunc
	store  store.Store
	ttl    time.Duration
	now    func() time.Time

	mu      sync.Mutex
	lease   store.Lease
	timer   *time.Timer
	stopped bool
}

// hold keeps a lease until stop.
func (e *Engine) hold(ctx context.Context, lease store.Lease) *heldLease {
	held := &heldLease{store: e.config.Store, ttl: e.config.LeaseTTL, now: e.config.Now, lease: lease}
	held.ctx, held.cancel = context.WithCancelCause(ctx)
	held.mu.Lock()
	defer held.mu.Unlock()
	held.timer = time.AfterFunc(held.ttl/3, held.renew)
	return held
}

// renew runs three times in the life of a lease, so that one failure of the
// store does not lose it. A lease that is lost ends the work.
func (h *heldLease) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(h.ctx, h.ttl/3)
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

// stop ends the renewing and returns the lease as it is.
func (h *heldLease) stop() store.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.timer.Stop()
	h.cancel(nil)
	return h.lease
}
