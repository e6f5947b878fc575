package records

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// completeTimeout bounds how long recording a result may take, whether or not the
// caller still waits for it.
const completeTimeout = 10 * time.Second

// Perform is steps 7 and 8: it carries out the task under the lease, and records the activity
// before it returns the record. s.Result is set if and only if the task was performed.
func (k *Keeper) Perform(ctx context.Context, s *request.Submission) (*activity.Record, error) {
	done, err := k.performHeld(ctx, s)
	if err != nil {
		release := done.Release
		if !s.SharesCharges() {
			release = s.Charges.Refund(k.Now(), release)
		}
		k.Release(ctx, s.Lease, release)
		return nil, err
	}
	// There is a signature now: the charge stays, whatever happens to it.
	s.Result = done.Result
	record, err := k.completed(ctx, s)
	var event *store.Event
	if err == nil {
		event, err = k.tellCompleted(ctx, s, record)
	}
	if err == nil {
		err = k.Complete(ctx, s, record, event, done)
	}
	if err != nil {
		k.Release(ctx, s.Lease, done.Release)
		return nil, err
	}
	return record, nil
}

// performHeld performs the task while renewing the lease. If the task panics, because
// of a bug here or in a key's backend, the lease is released before the panic
// propagates, so that a retry of the same body does not block on it.
func (k *Keeper) performHeld(ctx context.Context, s *request.Submission) (done operation.Outcome, err error) {
	held := k.hold(ctx, s.Lease)
	finished := false
	defer func() {
		if !finished {
			k.Release(ctx, held.stop(), nil)
		}
	}()
	started := time.Now()
	if s.Signs() == nil { // what it does, such as sending a code, cannot be withheld afterwards
		err = k.RefuseStopped(held, s.OrganizationID, s)
	}
	if err == nil {
		done, err = s.Task.Perform(held)
	}
	finished = true
	s.Performed = time.Since(started)
	s.Lease = held.stop()
	if held.lost {
		err = refuse.Store(store.ErrLeaseLost)
	}
	return done, err
}

// Complete records the activity of a submission, with its event, which may be nil, and what was
// done. Nothing may be answered unless it returns nil.
func (k *Keeper) Complete(ctx context.Context, s *request.Submission, record *activity.Record, event *store.Event,
	done operation.Outcome) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	entry, err := k.stored(record)
	if err == nil {
		entry.Event, entry.Of, entry.Stops = event, s, done.Stops
		err = k.Store.Complete(within, s.Lease, entry, s.Charges.Confirm(k.Now(), done.Complete))
	}
	if err != nil {
		return refuse.Store(err)
	}
	return nil
}

// Release ends a lease without a result, so that the same body can be tried again.
// Errors are only logged: the lease expires on its own.
func (k *Keeper) Release(ctx context.Context, lease store.Lease, change store.Change) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	if err := k.Store.Release(within, lease, change); err != nil && !errors.Is(err, store.ErrLeaseLost) {
		k.Logger.WarnContext(ctx, "releasing a lease failed", "cause", err)
	}
}

// heldLease is a lease that is renewed until it is stopped.
type heldLease struct {
	context.Context // cancelled when the lease is lost
	cancel          context.CancelCauseFunc
	store           store.Store
	ttl             time.Duration
	now             func() time.Time

	renewing      sync.Mutex
	lease         store.Lease
	timer         *time.Timer
	stopped, lost bool
}

// hold renews a lease until stop is called.
func (k *Keeper) hold(ctx context.Context, lease store.Lease) *heldLease {
	held := &heldLease{store: k.Store, ttl: k.LeaseTTL, now: k.Now, lease: lease}
	held.Context, held.cancel = context.WithCancelCause(ctx)
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
		h.lost = true
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
