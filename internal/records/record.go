package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// New returns the record of a request, with the submitter's vote and the
// decision of the policy. The caller sets its status.
func (k *Keeper) New(s *request.Submission) *activity.Record {
	now := k.Now()
	return &activity.Record{
		ID: request.NewID(), Request: s.Request,
		Votes:    []activity.Vote{s.Caller.Vote(activity.SelectionApproved, "", s.Request.Time(), now)},
		Decision: recordedDecision(&s.Decision), CreatedAt: now, UpdatedAt: now,
	}
}

// completed returns the record of a task that was performed: a new one, or for an
// activity that waited, its record with the result.
func (k *Keeper) completed(ctx context.Context, s *request.Submission) (*activity.Record, error) {
	var record *activity.Record
	if s.Record == nil {
		record = k.New(s)
	} else {
		waited := *s.Record
		record = &waited
		record.UpdatedAt, record.Decision = k.Now(), recordedDecision(&s.Decision)
		record.Decision.Required = s.Record.Decision.Required
	}
	record.Status, record.Result = activity.StatusCompleted, s.Result
	if signs := s.Signs(); signs != nil {
		record.Did = signs.Did(ctx, k.Names)
		record.Did.Rules = s.Decision.Rules
	}
	return record, k.Prove(record, s.Task)
}

// recordedDecision returns a decision as a record keeps it.
func recordedDecision(decision *access.Decision) activity.Decision {
	recorded := activity.Decision{Rules: decision.Rules, ReadWith: decision.ReadWith, Wallets: decision.Wallets}
	if decision.Readings != [32]byte{} {
		recorded.Readings = HexDigest(decision.Readings)
	}
	if decision.Digest != [32]byte{} {
		recorded.PolicyDigest = HexDigest(decision.Digest)
	}
	if decision.Prices != [32]byte{} {
		recorded.PricesDigest = HexDigest(decision.Prices)
	}
	for _, charge := range decision.Charges {
		recorded.Charges = append(recorded.Charges, activity.Charge{
			Limit: charge.Limit, Subject: charge.Subject, Amount: charge.Amount,
			Max: charge.Max, Window: charge.Window, Slot: charge.Slot,
		})
	}
	return recorded
}

// Prove adds the engine's app proof of the activity, if the request asked for it. task
// is nil if the activity ended without being carried out; the proof then has the
// summary that its voters were shown.
func (k *Keeper) Prove(record *activity.Record, task operation.Task) error {
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
		ResultDigest:   HexDigest(sha256.Sum256(activity.AppendResult(nil, record.Result))),
		PolicyDigest:   record.Decision.PolicyDigest,
	}
	if record.Reading != nil {
		payload.SummaryDigest = HexDigest(record.Reading.SummaryDigest())
	} else if signs := task.Signs(); signs != nil {
		payload.SummaryDigest = HexDigest(signs.Summary().Digest())
	}
	proof, err := activity.NewAppProof(k.ProofSigner, payload)
	if err != nil {
		return activity.NewError(activity.ReasonUnavailable, "", err, "the proof key could not be used: try again")
	}
	record.AppProofs = []activity.AppProof{proof}
	return nil
}

// HexDigest returns a digest as a record has it.
func HexDigest(digest [32]byte) string { return hex.EncodeToString(digest[:]) }

// stored returns a record as the store keeps it, with its leaf if there is a log and
// the activity has ended.
func (k *Keeper) stored(record *activity.Record) (store.Activity, error) {
	entry := store.Activity{
		ID:             record.ID,
		OrganizationID: record.Request.OrganizationID,
		Fingerprint:    record.Request.Fingerprint,
		At:             record.Request.TimestampMs,
		SubmittedBy:    record.Submitter().Credential,
		User:           record.Submitter().UserID,
		Type:           string(record.Request.Type),
		Status:         string(record.Status),
		Waiting:        record.Status.Waits(),
		Data:           record.Encode(),
		KeepUntil:      k.KeepUntil(record.Request, record.UpdatedAt),
	}
	if entry.Waiting {
		entry.KeepUntil = k.KeepUntil(record.Request, record.CreatedAt.Add(k.MaxWaiting)) // then a sweep rejects it
		entry.Most = store.Crowd{OfUser: access.MaxWaitingOfUser, OfOrganization: access.MaxWaitingOfOrganization}
	}
	if k.Log == nil {
		return entry, nil
	}
	entry.Sent = record.Request.Time()
	if entry.Waiting {
		return entry, nil
	}
	var err error
	entry.Leaf, err = LeafOf(&entry)
	return entry, err
}

// Replace replaces a record that waits, at a revision.
func (k *Keeper) Replace(ctx context.Context, record *activity.Record, revision uint64) error {
	entry, err := k.stored(record)
	if err != nil {
		return err
	}
	entry.Revision = revision
	if !entry.Waiting {
		if entry.Event, err = k.Tell(record, 0); err != nil {
			return err
		}
	}
	return k.Waiter.Replace(ctx, entry, k.Now(), nil)
}

// KeepUntil returns how long a record is kept: at least as long as its body is live,
// and long enough after its completion for a client that lost the answer.
func (k *Keeper) KeepUntil(request *activity.Request, completed time.Time) time.Time {
	from := request.Time()
	if completed.After(from) {
		from = completed
	}
	return from.Add(k.Window)
}

// decodedCopies is about how many copies of a record are in memory while it is decoded.
const decodedCopies = 3

// Decode decodes a record from the store, for an answer.
func Decode(ctx context.Context, recorded *store.Activity) (*activity.Record, error) {
	record, _, err := DecodeInRoom(ctx, recorded)
	return record, err
}

// DecodeInRoom is Decode for a record that may not be part of the answer.
func DecodeInRoom(ctx context.Context, recorded *store.Activity) (record *activity.Record, free func(), err error) {
	if free, err = access.OriginOf(ctx).Reserve(decodedCopies * len(recorded.Data)); err != nil {
		return nil, nil, err
	}
	if record, err = activity.DecodeRecord(recorded.Data); err != nil {
		return nil, nil, activity.NewError(activity.ReasonInternal, "", err, "a recorded activity cannot be read")
	}
	return record, free, nil
}

// LeafOf returns the encoded leaf of a record: it commits to the bytes that are stored.
func LeafOf(recorded *store.Activity) ([]byte, error) {
	leaf := translog.NewLeaf(recorded.OrganizationID, recorded.ID, recorded.Fingerprint, recorded.Data)
	return leaf.Encode()
}

// Tell returns the event for a record that is about to be written, or nil if there is none to
// send. missing is the number of votes that the activity still needs.
func (k *Keeper) Tell(record *activity.Record, missing int) (*store.Event, error) {
	var sentences []string
	if record.Reading != nil {
		sentences = record.Reading.Sentences
	}
	return k.tell(record, sentences, missing)
}

// tellCompleted is Tell for what was carried out, whose record need not say what it did.
func (k *Keeper) tellCompleted(ctx context.Context, s *request.Submission, record *activity.Record,
) (*store.Event, error) {
	signs := s.Signs()
	if record.Reading != nil || signs == nil || !slices.Contains(k.Events, activity.EventCompleted) {
		return k.Tell(record, 0)
	}
	reading, err := signs.Recorded(context.WithoutCancel(ctx), k.Names)
	if err != nil { // it is signed: an event that says less is better than none
		return k.Tell(record, 0)
	}
	return k.tell(record, reading.Sentences, 0)
}

func (k *Keeper) tell(record *activity.Record, sentences []string, missing int) (*store.Event, error) {
	if len(k.Events) == 0 {
		return nil, nil
	}
	event := activity.EventOf(record, sentences, missing)
	if !slices.Contains(k.Events, event.Type) {
		return nil, nil
	}
	data, err := event.Encode()
	if err != nil {
		return nil, activity.NewError(activity.ReasonInternal, "", err, "the event cannot be written")
	}
	return &store.Event{ID: "evt_" + request.NewID(), At: event.Timestamp, Data: data}, nil
}
