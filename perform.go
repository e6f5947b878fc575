package countersign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// completeTimeout is how long a result that is there may take to be recorded,
// whether or not a caller still waits for it.
const completeTimeout = 10 * time.Second

// perform is steps 7 and 8: it does the work under the lease, and records it
// before it returns it.
func (e *Engine) perform(ctx context.Context, by *caller, request *activity.Request, task work, charges *store.Charges, lease store.Lease, seen *Observation) (*activity.Record, error) {
	done, lease, err := e.performHeld(ctx, task, lease, seen)
	if err != nil {
		e.release(ctx, lease, charges.Refund(e.config.Now(), done.release))
		return nil, err
	}
	// From here on there is a signature: the charge stays, whatever becomes of it.
	record, err := e.completed(by, request, task, done.result)
	if err == nil {
		err = e.complete(ctx, lease, record, charges.Confirm(e.config.Now(), done.complete))
	}
	if err != nil {
		e.release(ctx, lease, done.release)
		return nil, err
	}
	return record, nil
}

// newRecord makes the record of a request, with the submitter's vote and what the
// policy decided; its status is for the caller to set.
func (e *Engine) newRecord(by *caller, request *activity.Request) (*activity.Record, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, activity.NewError(activity.ReasonInternal, "", err, "no randomness for the activity's id")
	}
	now := e.config.Now()
	vote, err := by.vote(activity.SelectionApproved, "", request.Time(), now)
	return &activity.Record{
		ID: id.String(), Request: request, Votes: []activity.Vote{vote},
		Decision: recordedDecision(&by.decision), CreatedAt: now, UpdatedAt: now,
	}, err
}

// completed makes the record of a request that was carried out.
func (e *Engine) completed(by *caller, request *activity.Request, task work, result activity.Result) (*activity.Record, error) {
	record, err := e.newRecord(by, request)
	if err != nil {
		return nil, err
	}
	record.Status, record.Result = activity.StatusCompleted, result
	return record, e.prove(record, task)
}

// recordedDecision is a decision as a record keeps it.
func recordedDecision(decision *Decision) activity.Decision {
	kept := activity.Decision{Rules: decision.Rules, ReadWith: decision.ReadWith}
	if decision.Readings != [32]byte{} {
		kept.Readings = hexDigest(decision.Readings)
	}
	if decision.Digest != [32]byte{} {
		kept.PolicyDigest = hexDigest(decision.Digest)
	}
	for _, charge := range decision.Charges {
		kept.Charges = append(kept.Charges, activity.Charge{
			Limit: charge.Limit, Subject: charge.Subject, Amount: charge.Amount, Max: charge.Max, Window: charge.Window,
		})
	}
	return kept
}

// prove adds the engine's own proof of what it did, if it was asked for.
func (e *Engine) prove(record *activity.Record, task work) error {
	if !record.Request.GenerateAppProofs {
		return nil
	}
	payload := activity.AppProofPayload{
		TimestampMs:    record.UpdatedAt.UnixMilli(),
		OrganizationID: record.Request.OrganizationID,
		ActivityID:     record.ID,
		ActivityType:   record.Request.Type,
		Fingerprint:    record.Request.Fingerprint.String(),
		Outcome:        record.Status,
		ResultDigest:   hexDigest(sha256.Sum256(activity.AppendResult(nil, record.Result))),
		PolicyDigest:   record.Decision.PolicyDigest,
	}
	if summary := task.summary(); summary != nil {
		payload.SummaryDigest = hexDigest(summary.Digest())
	}
	proof, err := activity.NewAppProof(e.config.ProofSigner, payload)
	if err != nil {
		return activity.NewError(activity.ReasonUnavailable, "", err, "the proof key could not be used: try again")
	}
	record.AppProofs = []activity.AppProof{proof}
	return nil
}

func hexDigest(digest [32]byte) string { return hex.EncodeToString(digest[:]) }

// complete records the activity. Only if it returns nil may anything leave.
func (e *Engine) complete(ctx context.Context, lease store.Lease, record *activity.Record, change store.Change) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	completed, err := e.logged(e.stored(record))
	if err == nil {
		err = e.config.Store.Complete(ctx, lease, completed, change)
	}
	if err != nil {
		return refuseStore(err)
	}
	return nil
}

// stored is a record for the store.
func (e *Engine) stored(record *activity.Record) store.Activity {
	return store.Activity{
		ID:             record.ID,
		OrganizationID: record.Request.OrganizationID,
		Fingerprint:    record.Request.Fingerprint,
		SubmittedBy:    record.Submitter().Credential,
		User:           record.Submitter().UserID,
		Type:           string(record.Request.Type),
		Status:         string(record.Status),
		Waiting:        record.Status.Waits(),
		Data:           record.Encode(),
		KeepUntil:      e.keepUntil(record.Request, e.lastChange(record)),
	}
}

// replace replaces a record that waits, at a revision.
func (e *Engine) replace(ctx context.Context, record *activity.Record, revision uint64) error {
	after, err := e.logged(e.stored(record))
	if err != nil {
		return err
	}
	after.Revision = revision
	return e.config.Store.Replace(ctx, after, e.config.Now(), nil)
}
