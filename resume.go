package countersign

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// pending is an activity that waits, as the store has it.
type pending struct {
	*activity.Record
	revision     uint64
	organization *access.Organization // nil if the directory does not know it any more
}

// resume carries out an activity that has its votes, on behalf of s: a vote or a
// sweep. An activity without them is returned unchanged. If there is an obstacle that
// may pass, the activity is returned with the reason and goes on waiting.
func (e *Engine) resume(ctx context.Context, s *submission, waiting *pending) (*activity.Record, error) {
	var limited error
	for range beginAttempts {
		j, err := e.judge(ctx, waiting.organization, waiting.Record, e.spent(waiting.Request.Fingerprint))
		if err != nil {
			return waiting.Record, nil //nolint:nilerr // the vote is counted; the sweep continues with it
		}
		if _, missing := j.missing(); missing > 0 {
			return waiting.Record, nil
		}
		if j.refused != nil {
			return e.notNow(ctx, waiting, j.refused)
		}
		record, err := e.carryOut(ctx, s, j.submission, waiting)
		if !errors.Is(err, store.ErrLimit) {
			return record, err
		}
		limited = refuseStore(err)
	}
	return e.notNow(ctx, waiting, limited)
}

// carryOut takes the lease of a waiting activity with its charges, and performs it.
func (e *Engine) carryOut(ctx context.Context, s, resumed *submission, waiting *pending) (*activity.Record, error) {
	resumed.charges = store.Charges{By: waiting.Request.Fingerprint, List: resumed.decision.Charges}
	claim := e.claim(waiting.Request)
	claim.Revision, claim.Now = waiting.revision, e.config.Now()
	begun, err := e.config.Store.Begin(ctx, claim, resumed.charges.Take(claim.Now, nil))
	switch {
	case errors.Is(err, store.ErrStale):
		return e.notNow(ctx, waiting, refuseStore(err))
	case err != nil:
		return nil, err
	case begun.Recorded != nil:
		return nil, store.ErrChanged
	case begun.Lease == nil:
		return nil, store.ErrHeld
	}
	resumed.lease, s.resumed = *begun.Lease, resumed
	record, err := e.perform(ctx, resumed)
	s.Performed = resumed.Performed
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		return nil, store.ErrChanged // another node took over, and its result is the answer
	case err != nil && resumed.result == nil:
		return e.notNow(ctx, waiting, err)
	}
	return record, err
}

// notNow notes why an activity with enough votes is not signed. It goes on waiting,
// unless the obstacle never passes.
func (e *Engine) notNow(ctx context.Context, waiting *pending, cause error) (*activity.Record, error) {
	refused, ok := errors.AsType[*activity.Error](cause)
	if !ok {
		return nil, cause
	}
	after := *waiting.Record
	switch refused.Reason {
	case activity.ReasonRequestInvalid, activity.ReasonInvalidTransaction, activity.ReasonUnsupportedTransactionType, activity.ReasonInvalidTime:
		after.Status, after.Decision.Reason = activity.StatusFailed, ""
		after.Failure = &activity.Failure{Code: refused.Code, Message: refused.Message}
	default:
		if refused.Message == waiting.Decision.Reason {
			return waiting.Record, nil
		}
		after.Decision.Reason = refused.Message
	}
	return e.update(context.WithoutCancel(ctx), waiting, &after)
}

// abandoned reports whether an activity has waited too long.
func (e *Engine) abandoned(record *activity.Record) bool {
	return e.config.Now().After(record.CreatedAt.Add(e.config.MaxWaiting))
}

// reject ends an activity that has waited too long.
func (e *Engine) reject(ctx context.Context, waiting *pending) (*activity.Record, error) {
	after := *waiting.Record
	after.Status, after.Decision.Reason = activity.StatusRejected, "its votes did not come in time"
	return e.update(ctx, waiting, &after)
}

// update replaces the record of an activity that waits. If that ends the activity, the
// record gets its app proof.
func (e *Engine) update(ctx context.Context, waiting *pending, after *activity.Record) (*activity.Record, error) {
	after.UpdatedAt = e.config.Now()
	if !after.Status.Waits() {
		if err := e.prove(after, nil); err != nil {
			return nil, err
		}
	}
	if err := e.replace(ctx, after, waiting.revision); err != nil {
		return nil, err
	}
	return after, nil
}

// ResumeWaiting goes through the activities that wait. One that has its votes is
// carried out, unless there is still an obstacle; one that has waited longer than
// Config.MaxWaiting is rejected. The engine calls it every SweepInterval, as long as
// requests come.
func (e *Engine) ResumeWaiting(ctx context.Context) error {
	if err := e.takesRequests(); err != nil {
		return err
	}
	waiting, err := e.config.Store.Waiting(ctx)
	if err != nil {
		return refuseStore(err)
	}
	var failed error
	for i := range waiting {
		err := e.resumeOne(ctx, &waiting[i])
		if err != nil && !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrHeld) && !errors.Is(err, store.ErrNotFound) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// resumeOne resumes or rejects one activity, and writes a log line if that ends it. A
// panic, of a policy or of a key's backend for instance, is logged and returned as an
// error: no client waits here whose connection it would end, and the activity would end
// the process again at every start.
func (e *Engine) resumeOne(ctx context.Context, listed *store.Activity) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			e.config.Logger.ErrorContext(ctx, "panic while resuming an activity", "organization", listed.OrganizationID, "activity", listed.ID, "cause", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("resuming activity %s: panic: %v", listed.ID, cause)
		}
	}()
	found, err := e.config.Store.Find(ctx, listed.OrganizationID, listed.Fingerprint)
	if err != nil {
		return err
	}
	record, err := decodeRecorded(ctx, &found)
	if err != nil || !record.Status.Waits() {
		return err
	}
	waiting := &pending{Record: record, revision: found.Revision}
	s := newSubmission("resume")
	s.organizationID = listed.OrganizationID
	if e.abandoned(record) {
		record, err = e.reject(ctx, waiting)
	} else if waiting.organization, err = e.organizationOf(ctx, listed.OrganizationID); err == nil {
		record, err = e.resume(ctx, s, waiting)
	}
	if s.resumed == nil {
		e.logEnded(ctx, record)
		return err
	}
	s.caller, s.record, s.Duration = s.resumed.caller, record, time.Since(s.started)
	e.log(ctx, s, err)
	return err
}

// logEnded writes the log line of an activity that ended without a request and without
// a signature: it waited too long, or can never be signed.
func (e *Engine) logEnded(ctx context.Context, record *activity.Record) {
	if record == nil || record.Status.Waits() {
		return
	}
	attributes := []any{"organization", record.Request.OrganizationID, "activity", record.ID, "status", record.Status, "submitter", record.Submitter().UserID}
	if record.Failure != nil {
		attributes = append(attributes, "code", record.Failure.Code) // its message may repeat what the request says
	} else {
		attributes = append(attributes, "reason", record.Decision.Reason)
	}
	e.config.Logger.InfoContext(ctx, "an activity that waited has ended", attributes...)
}
