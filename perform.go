package countersign

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// completeTimeout bounds how long recording a result may take, whether or not the
// caller still waits for it.
const completeTimeout = 10 * time.Second

// perform is steps 7 and 8: it carries out the task under the lease, and records the
// activity before it returns the record. s.result is set if and only if the task was
// performed.
func (e *Engine) perform(ctx context.Context, s *submission) (*activity.Record, error) {
	done, err := e.performHeld(ctx, s)
	if err != nil {
		e.release(ctx, s.lease, s.charges.Refund(e.config.Now(), done.Release))
		return nil, err
	}
	// There is a signature now: the charge stays, whatever happens to it.
	s.result = done.Result
	record, err := e.completed(s)
	if err == nil {
		err = e.complete(ctx, s.lease, record, s.charges.Confirm(e.config.Now(), done.Complete))
	}
	if err != nil {
		e.release(ctx, s.lease, done.Release)
		return nil, err
	}
	return record, nil
}

// performHeld performs the task while renewing the lease. If the task panics, because
// of a bug here or in a key's backend, the lease is released before the panic
// propagates, so that a retry of the same body does not block on it.
func (e *Engine) performHeld(ctx context.Context, s *submission) (done operation.Outcome, err error) {
	held := e.hold(ctx, s.lease)
	finished := false
	defer func() {
		if !finished {
			e.release(ctx, held.stop(), nil)
		}
	}()
	started := time.Now()
	done, err = s.task.Perform(held.ctx)
	finished = true
	s.Performed = time.Since(started)
	s.lease = held.stop()
	if errors.Is(context.Cause(held.ctx), store.ErrLeaseLost) {
		err = refuseStore(store.ErrLeaseLost)
	}
	return done, err
}

// complete records the activity. Nothing may be answered unless it returns nil.
func (e *Engine) complete(ctx context.Context, lease store.Lease, record *activity.Record, change store.Change) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	stored, err := e.stored(record)
	if err == nil {
		err = e.config.Store.Complete(ctx, lease, stored, change)
	}
	if err != nil {
		return refuseStore(err)
	}
	return nil
}

// release ends a lease without a result, so that the same body can be tried again.
// Errors are only logged: the lease expires on its own.
func (e *Engine) release(ctx context.Context, lease store.Lease, change store.Change) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	if err := e.config.Store.Release(ctx, lease, change); err != nil && !errors.Is(err, store.ErrLeaseLost) {
		e.config.Logger.WarnContext(ctx, "releasing a lease failed", "cause", err)
	}
}

// heldLease is a lease that is renewed until it is stopped.
type heldLease struct {
	ctx    context.Context // cancelled when the lease is lost
	cancel context.CancelCauseFunc
	store  store.Store
	ttl    time.Duration
	now    func() time.Time

	mu      sync.Mutex
	lease   store.Lease
	timer   *time.Timer
	stopped bool
}

// hold renews a lease until stop is called.
func (e *Engine) hold(ctx context.Context, lease store.Lease) *heldLease {
	held := &heldLease{store: e.config.Store, ttl: e.config.LeaseTTL, now: e.config.Now, lease: lease}
	held.ctx, held.cancel = context.WithCancelCause(ctx)
	held.mu.Lock()
	defer held.mu.Unlock()
	held.timer = time.AfterFunc(held.ttl/3, held.renew)
	return held
}

// renew runs three times within the lifetime of a lease, so that a single failure of
// the store does not lose it. Losing the lease cancels the work.
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

// stop ends the renewal and returns the lease as it was last renewed.
func (h *heldLease) stop() store.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.timer.Stop()
	h.cancel(nil)
	return h.lease
}
