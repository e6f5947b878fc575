package countersign

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// resume carries an activity out that has its votes. Without them, it returns it
// as it is; and so, with the reason, where something is in the way that may pass.
func (e *Engine) resume(ctx context.Context, waiting *pending, seen *Observation) (*activity.Record, error) {
	var limited error
	for range beginAttempts {
		j, err := e.judge(ctx, waiting.Record, e.spent(waiting.Request.Fingerprint))
		if err != nil {
			return waiting.Record, nil //nolint:nilerr // the vote is counted; the sweep goes on with it
		}
		if _, missing := j.missing(submitterID(waiting.Record)); missing > 0 {
			return waiting.Record, nil
		}
		if j.refused != nil {
			return e.notNow(ctx, waiting, j.refused)
		}
		record, err := e.carryOut(ctx, waiting, j, seen)
		if !errors.Is(err, store.ErrLimit) {
			return record, err
		}
		limited = refuseStore(err)
	}
	return e.notNow(ctx, waiting, limited)
}

// carryOut takes the lease with its charges, signs, and records.
func (e *Engine) carryOut(ctx context.Context, waiting *pending, j *judgement, seen *Observation) (*activity.Record, error) {
	charges := store.Charges{By: waiting.Request.Fingerprint, List: j.decision.Charges}
	claim := e.claim(waiting.Request)
	claim.Revision, claim.Now = waiting.revision, e.config.Now()
	begun, err := e.config.Store.Begin(ctx, claim, charges.Take(claim.Now, nil))
	switch {
	case err != nil:
		return nil, err
	case begun.Recorded != nil:
		return nil, store.ErrChanged
	case begun.Lease == nil:
		return nil, store.ErrHeld
	}
	seen.trail.signed = j
	done, lease, err := e.performHeld(ctx, j.task, *begun.Lease, seen)
	if errors.Is(err, store.ErrLeaseLost) {
		return nil, store.ErrChanged // another node goes on with it: what it does is the answer
	}
	if err != nil {
		e.release(ctx, lease, charges.Refund(e.config.Now(), nil))
		return e.notNow(ctx, waiting, err)
	}
	// From here on there is a signature: the charge stays, whatever becomes of it.
	record := *waiting.Record
	record.Status, record.Result, record.UpdatedAt = activity.StatusCompleted, done.result, e.config.Now()
	record.Decision = recordedDecision(&j.decision)
	record.Decision.Required = waiting.Decision.Required
	if err = e.prove(&record, j.task); err == nil {
		err = e.complete(ctx, lease, &record, charges.Confirm(e.config.Now(), nil))
	}
	if err != nil {
		e.release(ctx, lease, nil)
		if errors.Is(err, store.ErrLeaseLost) {
			err = store.ErrChanged
		}
		return nil, err
	}
	return &record, nil
}

// notNow notes why an activity with enough votes is not signed. It goes on
// waiting, unless what is in the way never passes.
func (e *Engine) notNow(ctx context.Context, waiting *pending, cause error) (*activity.Record, error) {
	after := *waiting.Record
	refused, _ := errors.AsType[*activity.Error](cause)
	switch {
	case refused != nil && passesNever(refused):
		after.Status, after.Decision.Reason = activity.StatusFailed, ""
		after.Failure = &activity.Failure{Code: refused.Code, Message: refused.Message}
		if err := e.prove(&after, nil); err != nil {
			return nil, err
		}
	case refused != nil && refused.Message == waiting.Decision.Reason:
		return waiting.Record, nil
	case refused != nil:
		after.Decision.Reason = refused.Message
	default:
		return nil, cause
	}
	after.UpdatedAt = e.config.Now()
	if err := e.replace(context.WithoutCancel(ctx), &after, waiting.revision); err != nil {
		return nil, err
	}
	return &after, nil
}

// passesNever reports whether a refusal is of the transaction itself.
func passesNever(refused *activity.Error) bool {
	switch refused.Reason {
	case activity.ReasonRequestInvalid, activity.ReasonInvalidTransaction, activity.ReasonUnsupportedTransactionType:
		return true
	}
	return false
}

// abandoned reports whether an activity has waited too long.
func (e *Engine) abandoned(record *activity.Record) bool {
	return e.config.Now().After(record.CreatedAt.Add(e.config.MaxWaiting))
}

// reject ends an activity by the engine itself.
func (e *Engine) reject(ctx context.Context, waiting *pending, reason string) (*activity.Record, error) {
	after := *waiting.Record
	after.Status, after.Decision.Reason, after.UpdatedAt = activity.StatusRejected, reason, e.config.Now()
	if err := e.prove(&after, nil); err != nil {
		return nil, err
	}
	if err := e.replace(ctx, &after, waiting.revision); err != nil {
		return nil, err
	}
	return &after, nil
}

// ResumeWaiting goes through the activities that wait: what has its votes is
// carried out, if nothing is in the way any more, and what has waited for longer
// than Config.MaxWaiting is rejected. The engine does so by itself once in
// SweepInterval, as long as requests come.
func (e *Engine) ResumeWaiting(ctx context.Context) error {
	if err := e.ready(); err != nil {
		return err
	}
	all, err := e.config.Store.Waiting(ctx)
	if err != nil {
		return refuseStore(err)
	}
	var failed error
	for i := range all {
		err := e.resumeOne(ctx, &all[i])
		if err != nil && !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrHeld) && !errors.Is(err, store.ErrNotFound) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func (e *Engine) resumeOne(ctx context.Context, found *store.Activity) error {
	whole, err := e.config.Store.Find(ctx, found.OrganizationID, found.Fingerprint)
	if err != nil {
		return err
	}
	record, err := decodeRecorded(ctx, &whole)
	if err != nil || !record.Status.Waits() {
		return err
	}
	waiting := &pending{record, whole.Revision}
	if e.abandoned(record) {
		record, err = e.reject(ctx, waiting, "its votes did not come in time")
		e.logEnded(ctx, record)
		return err
	}
	return e.resumeLogged(ctx, waiting)
}

// resumeLogged is resume, with a line in the log if it came to signing: no request has
// one for it.
func (e *Engine) resumeLogged(ctx context.Context, waiting *pending) error {
	started := time.Now()
	seen := Observation{Operation: "resume", trail: new(trail)}
	record, err := e.resume(ctx, waiting, &seen)
	if signed := seen.trail.signed; signed != nil {
		seen.trail.by, seen.trail.record = signed.submitter, record
		seen.Duration = time.Since(started)
		e.log(ctx, &seen, waiting.Request.OrganizationID, err)
	} else {
		e.logEnded(ctx, record)
	}
	return err
}

// logEnded writes a line for an activity that ended without a request and without a
// signature: given up, or one that can never be signed any more.
func (e *Engine) logEnded(ctx context.Context, record *activity.Record) {
	if record == nil || record.Status.Waits() {
		return
	}
	attributes := []any{"organization", record.Request.OrganizationID, "activity", record.ID, "status", record.Status, "submitter", submitterID(record)}
	if record.Failure != nil {
		attributes = append(attributes, "code", record.Failure.Code) // its message may repeat what the request says
	} else {
		attributes = append(attributes, "reason", record.Decision.Reason)
	}
	e.config.Logger.InfoContext(ctx, "an activity that waited has ended", attributes...)
}
