package records

import (
	"context"
	"errors"
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

// Perform is steps 7 and 8: it carries out the task under the lease, and records the
// activity before it returns the record. s.Result is set if and only if the task was
// performed.
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
	if errors.Is(held.cancelled(), store.ErrLeaseLost) {
		err = refuse.Store(store.ErrLeaseLost)
	}
	return done, err
}

// Complete records the activity of a submission, with its event, which may be nil, and what was
// done. Nothing may be answered unless it returns nil.
func (k *Keeper) Complete(ctx context.Context, s *request.Submission, record *activity.Record, event *store.Event,
	done operation.Outcome) error {
	within := &lateContext{parent: ctx, detached: true, deadline: time.Now().Add(completeTimeout)}
	defer within.cancel(context.Canceled)
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
	within := &lateContext{parent: ctx, detached: true, deadline: time.Now().Add(completeTimeout)}
	defer within.cancel(context.Canceled)
	if err := k.Store.Release(within, lease, change); err != nil && !errors.Is(err, store.ErrLeaseLost) {
		k.Logger.WarnContext(ctx, "releasing a lease failed", "cause", err)
	}
}
