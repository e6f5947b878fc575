package countersign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// newRecord returns the record of a request, with the submitter's vote and the
// decision of the policy. The caller sets its status.
func (e *Engine) newRecord(s *submission) (*activity.Record, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, activity.NewError(activity.ReasonInternal, "", err, "no randomness for the activity's id")
	}
	now := e.config.Now()
	vote, err := s.caller.vote(activity.SelectionApproved, "", s.request.Time(), now)
	return &activity.Record{
		ID: id.String(), Request: s.request, Votes: []activity.Vote{vote},
		Decision: recordedDecision(&s.decision), CreatedAt: now, UpdatedAt: now,
	}, err
}

// vote returns the caller's stamp on an activity, as the record keeps it. message is
// the stamped body, or empty if that is the body of the activity.
func (c *caller) vote(selection activity.Selection, message string, stampedAt, now time.Time) (activity.Vote, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return activity.Vote{}, activity.NewError(activity.ReasonInternal, "", err, "no randomness for the vote's id")
	}
	user := c.member.User
	vote := activity.Vote{
		ID: id.String(), UserID: user.ID, UserName: user.Name, UserSince: user.CreatedAt,
		Scheme: activity.SchemeLocal, Selection: selection, Message: message, StampedAt: stampedAt, CreatedAt: now,
	}
	if c.stamp != nil {
		vote.Credential = string(c.member.Credential.ID())
		vote.PublicKey = c.member.Credential.PublicKeyText()
		vote.Signature = c.stamp.SignatureText()
		vote.Scheme = string(c.stamp.Scheme())
	}
	return vote, nil
}

// completed returns the record of a task that was performed: a new one, or for an
// activity that waited, its record with the result.
func (e *Engine) completed(s *submission) (*activity.Record, error) {
	if s.record == nil {
		record, err := e.newRecord(s)
		if err != nil {
			return nil, err
		}
		record.Status, record.Result = activity.StatusCompleted, s.result
		return record, e.prove(record, s.task)
	}
	record := *s.record
	record.Status, record.Result, record.UpdatedAt = activity.StatusCompleted, s.result, e.config.Now()
	record.Decision = recordedDecision(&s.decision)
	record.Decision.Required = s.record.Decision.Required
	return &record, e.prove(&record, s.task)
}

// recordedDecision returns a decision as a record keeps it.
func recordedDecision(decision *access.Decision) activity.Decision {
	recorded := activity.Decision{Rules: decision.Rules, ReadWith: decision.ReadWith}
	if decision.Readings != [32]byte{} {
		recorded.Readings = hexDigest(decision.Readings)
	}
	if decision.Digest != [32]byte{} {
		recorded.PolicyDigest = hexDigest(decision.Digest)
	}
	for _, charge := range decision.Charges {
		recorded.Charges = append(recorded.Charges, activity.Charge{
			Limit: charge.Limit, Subject: charge.Subject, Amount: charge.Amount, Max: charge.Max, Window: charge.Window,
		})
	}
	return recorded
}

// prove adds the engine's app proof of the activity, if the request asked for it. task
// is nil if the activity ended without being carried out; the proof then has the
// summary that its voters were shown.
func (e *Engine) prove(record *activity.Record, task operation.Task) error {
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
	if record.Reading != nil {
		payload.SummaryDigest = hexDigest(record.Reading.SummaryDigest())
	} else if summary := task.Summary(); summary != nil {
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

// stored returns a record as the store keeps it, with its leaf if there is a log and
// the activity has ended.
func (e *Engine) stored(record *activity.Record) (store.Activity, error) {
	stored := store.Activity{
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
	if !e.config.Log {
		return stored, nil
	}
	stored.Sent = record.Request.Time()
	if stored.Waiting {
		return stored, nil
	}
	var err error
	stored.Leaf, err = leafOf(&stored)
	return stored, err
}

// replace replaces a record that waits, at a revision.
func (e *Engine) replace(ctx context.Context, record *activity.Record, revision uint64) error {
	stored, err := e.stored(record)
	if err != nil {
		return err
	}
	stored.Revision = revision
	return e.config.Store.Replace(ctx, stored, e.config.Now(), nil)
}

// keepUntil returns how long a record is kept: at least as long as its body is live,
// and long enough after its completion for a client that lost the answer.
func (e *Engine) keepUntil(request *activity.Request, completed time.Time) time.Time {
	from := request.Time()
	if completed.After(from) {
		from = completed
	}
	return from.Add(e.config.MaxRequestAge + e.config.MaxRequestSkew)
}

// lastChange returns the latest time at which a record can change: a sweep after that
// time rejects one that waits.
func (e *Engine) lastChange(record *activity.Record) time.Time {
	if record.Status.Waits() {
		return record.CreatedAt.Add(e.config.MaxWaiting)
	}
	return record.UpdatedAt
}

// RecordRoom reserves memory before records are decoded: size is in bytes. If it
// returns an error, which must be an *activity.Error, the request is answered with it.
// free gives the room back; it is called for records that are not part of the answer.
type RecordRoom func(size int) (free func(), err error)

type recordRoomKey struct{}

// WithRecordRoom returns a context whose requests call room before they decode a
// record that was read from the store. A server uses it to bound its memory.
func WithRecordRoom(ctx context.Context, room RecordRoom) context.Context {
	return context.WithValue(ctx, recordRoomKey{}, room)
}

// decodedCopies is about how many copies of a record are in memory while it is decoded.
const decodedCopies = 3

// roomFor reserves memory for records of size bytes.
func roomFor(ctx context.Context, size int) (free func(), err error) {
	if room, ok := ctx.Value(recordRoomKey{}).(RecordRoom); ok {
		return room(size)
	}
	return func() {}, nil
}

// decodeRecorded decodes a record from the store, for an answer.
func decodeRecorded(ctx context.Context, recorded *store.Activity) (*activity.Record, error) {
	record, _, err := decodeInRoom(ctx, recorded)
	return record, err
}

// decodeInRoom is decodeRecorded for a record that may not be part of the answer.
func decodeInRoom(ctx context.Context, recorded *store.Activity) (record *activity.Record, free func(), err error) {
	if free, err = roomFor(ctx, decodedCopies*len(recorded.Data)); err != nil {
		return nil, nil, err
	}
	if record, err = activity.DecodeRecord(recorded.Data); err != nil {
		return nil, nil, activity.NewError(activity.ReasonInternal, "", err, "a recorded activity cannot be read")
	}
	return record, free, nil
}
