package approvals

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// pending is a waiting activity read from the store.
type pending struct {
	*activity.Record
	revision     uint64
	organization *access.Organization // nil if the directory does not know it any more
}

// resume carries out an activity that has its votes, on behalf of s: a vote or a
// sweep. An activity without them is returned unchanged. If there is an obstacle that
// may pass, the activity is returned with the reason and goes on waiting.
func (a *Approvals) resume(ctx context.Context, s *request.Submission, waiting *pending) (*activity.Record, error) {
	// With too few votes by what it was submitted with alone, which no policy drops, it need not be
	// prepared, which takes long of a list of transactions.
	votes, err := a.countedVotes(ctx, waiting.Record)
	missing := access.Missing(waiting.Decision.Required, votes, waiting.Submitter().UserID, a.Records.Now())
	if err != nil || slices.ContainsFunc(missing, func(count int) bool { return count > 0 }) {
		return waiting.Record, nil //nolint:nilerr // the vote is counted; the sweep continues with it
	}
	var limited error
	for range records.BeginAttempts {
		j, err := a.judge(ctx, waiting.organization, waiting.Record, a.Records.Spent(waiting.Request.Fingerprint))
		if err != nil {
			return waiting.Record, nil //nolint:nilerr // the vote is counted; the sweep continues with it
		}
		if _, missing := j.missing(); missing > 0 {
			return waiting.Record, nil
		}
		if j.refused != nil {
			return a.notNow(ctx, waiting, j.refused)
		}
		record, err := a.carryOut(ctx, s, j.submission, waiting)
		if !errors.Is(err, store.ErrLimit) {
			return record, err
		}
		limited = refuse.Store(err)
	}
	return a.notNow(ctx, waiting, limited)
}

// carryOut takes the lease of a waiting activity with its charges, and performs it.
func (a *Approvals) carryOut(ctx context.Context, s, resumed *request.Submission, waiting *pending) (*activity.Record, error) {
	resumed.Charges = store.Charges{By: resumed.ChargedBy(), List: resumed.Decision.Charges}
	claim := a.Records.Claim(resumed)
	claim.Revision, claim.Now = waiting.revision, a.Records.Now()
	begun, err := a.Records.Store.Begin(ctx, claim, resumed.Charges.Take(claim.Now, nil))
	switch {
	case errors.Is(err, store.ErrStale), errors.Is(err, store.ErrStopped):
		return a.notNow(ctx, waiting, refuse.Store(err))
	case err != nil:
		return nil, err
	case begun.Recorded != nil:
		return nil, store.ErrChanged
	case begun.Lease == nil:
		return nil, store.ErrHeld
	}
	resumed.Lease, s.Resumed = *begun.Lease, resumed
	record, err := a.Records.Perform(ctx, resumed)
	s.Performed = resumed.Performed
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		return nil, store.ErrChanged // another node took over, and its result is the answer
	case err != nil && (resumed.Result == nil || errors.Is(err, store.ErrStopped)):
		return a.notNow(ctx, waiting, err)
	}
	return record, err
}

// notNow notes why an activity with enough votes is not signed. It goes on waiting,
// unless the obstacle never passes.
func (a *Approvals) notNow(ctx context.Context, waiting *pending, cause error) (*activity.Record, error) {
	refused, ok := errors.AsType[*activity.Error](cause)
	if !ok {
		return nil, cause
	}
	after := *waiting.Record
	switch refused.Reason {
	case activity.ReasonRequestInvalid, activity.ReasonInvalidTransaction, activity.ReasonUnsupportedTransactionType,
		activity.ReasonInvalidTime:
		after.Status, after.Decision.Reason = activity.StatusFailed, ""
		after.Failure = &activity.Failure{Code: refused.Code, Message: refused.Message}
	default:
		if refused.Message == waiting.Decision.Reason {
			return waiting.Record, nil
		}
		after.Decision.Reason = refused.Message
	}
	return a.update(context.WithoutCancel(ctx), waiting, &after)
}

// abandoned reports whether an activity has waited too long.
func (a *Approvals) abandoned(record *activity.Record) bool {
	return a.Records.Now().After(record.CreatedAt.Add(a.Records.MaxWaiting))
}

// reject ends an activity that has waited too long.
func (a *Approvals) reject(ctx context.Context, waiting *pending) (*activity.Record, error) {
	after := *waiting.Record
	after.Status, after.Decision.Reason = activity.StatusRejected, "its votes did not come in time"
	return a.update(ctx, waiting, &after)
}

// update replaces the record of an activity that waits. If that ends the activity, the
// record gets its app proof.
func (a *Approvals) update(ctx context.Context, waiting *pending, after *activity.Record) (*activity.Record, error) {
	after.UpdatedAt = a.Records.Now()
	if !after.Status.Waits() {
		if err := a.Records.Prove(after, nil); err != nil {
			return nil, err
		}
	}
	if err := a.Records.Replace(ctx, after, waiting.revision); err != nil {
		return nil, err
	}
	return after, nil
}

// ResumeAll goes through the activities that wait. One that has its votes is carried out, unless
// there is still an obstacle; one that has waited longer than Config.MaxWaiting is rejected.
func (a *Approvals) ResumeAll(ctx context.Context) error {
	if a.Records.Waiter == nil {
		return nil
	}
	waiting, err := a.Records.Waiter.Waiting(ctx)
	if err != nil {
		return refuse.Store(err)
	}
	var failed error
	for i := range waiting {
		err := a.resumeOne(ctx, &waiting[i])
		if err != nil && !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrHeld) && !errors.Is(err, store.ErrNotFound) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// resumeOne resumes or rejects one activity, and writes a log line if that ends it. A panic, of a
// policy or of a key's backend for instance, is logged and returned as an error: no client waits
// here whose connection it would end, and the activity would end the process again at every start.
func (a *Approvals) resumeOne(ctx context.Context, listed *store.Activity) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			a.Records.Logger.ErrorContext(ctx, "panic while resuming an activity", "organization",
				listed.OrganizationID, "activity", listed.ID, "cause", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("resuming activity %s: panic: %v", listed.ID, cause)
		}
	}()
	recorded, err := a.Records.Store.Get(ctx, listed.OrganizationID, listed.ID)
	if err != nil {
		return err
	}
	record, err := records.Decode(ctx, &recorded)
	if err != nil || !record.Status.Waits() {
		return err
	}
	waiting := &pending{Record: record, revision: recorded.Revision}
	s := request.New("resume")
	s.OrganizationID = listed.OrganizationID
	if a.abandoned(record) {
		record, err = a.reject(ctx, waiting)
	} else if waiting.organization, err = request.OrganizationOf(ctx, a.Directory, listed.OrganizationID); err == nil {
		record, err = a.resume(ctx, s, waiting)
	}
	if s.Resumed == nil {
		a.logEnded(ctx, record)
		return err
	}
	s.Caller, s.Record, s.Duration = s.Resumed.Caller, record, time.Since(s.Started)
	s.Log(ctx, a.Records.Logger, err)
	return err
}

// logEnded writes the log line of an activity that ended without a request and without
// a signature: it waited too long, or can never be signed.
func (a *Approvals) logEnded(ctx context.Context, record *activity.Record) {
	if record == nil || record.Status.Waits() {
		return
	}
	attributes := []any{"organization", record.Request.OrganizationID, "activity", record.ID, "status", record.Status,
		"submitter", record.Submitter().UserID}
	if record.Failure != nil {
		attributes = append(attributes, "code", record.Failure.Code) // its message may repeat what the request says
	} else {
		attributes = append(attributes, "reason", record.Decision.Reason)
	}
	a.Records.Logger.InfoContext(ctx, "an activity that waited has ended", attributes...)
}
