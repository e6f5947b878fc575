package countersign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
)

// pending is an activity that waits, as the store has it.
type pending struct {
	*activity.Record
	revision uint64
}

// voteAttempts bounds how often a vote is counted anew because others voted at
// the same time.
const voteAttempts = 200

// vote counts a vote, and carries the activity out if it was the last. It answers
// the activity as it then stands.
//
// The vote is in the store before anything is done about it: whichever node dies
// after that, another can go on.
func (e *Engine) vote(ctx context.Context, request *activity.Request, intent activity.VoteIntent, headers []stamp.Header, seen *Observation) (*activity.Record, error) {
	by, err := e.admitVote(ctx, request, headers)
	seen.trail.intent, seen.trail.by = request.Intent, by
	if err != nil {
		return nil, err
	}
	e.sweep()
	for range voteAttempts {
		waiting, err := e.votedOn(ctx, by, intent)
		if err != nil {
			return nil, err
		}
		record, err := e.countVote(ctx, by, request, intent, waiting, seen)
		switch {
		case errors.Is(err, store.ErrHeld):
			err = e.awaitHolder(ctx, waiting)
		case errors.Is(err, store.ErrChanged):
			err = nil
		case err == nil:
			return e.shownTo(ctx, by, record)
		}
		if err != nil {
			return nil, refuseStored(err)
		}
	}
	return nil, activity.NewError(activity.ReasonUnavailable, "", nil, "others keep voting on this activity: send the same vote again")
}

// admitVote is steps 2 and 3 of a vote.
func (e *Engine) admitVote(ctx context.Context, request *activity.Request, headers []stamp.Header) (*caller, error) {
	by, err := e.authenticate(ctx, request.OrganizationID, headers, request.Body)
	if err != nil {
		return nil, err
	}
	if !by.may(request.Type) {
		return by, activity.NewError(activity.ReasonNotAuthorized, "type", nil,
			"not authorized: this credential may not vote: its list of activities has to name %s", request.Type)
	}
	return by, e.checkTime(request.Time())
}

// votedOn finds the activity of a vote. Of one that the caller may not read, it
// says what it says of one that is not there.
func (e *Engine) votedOn(ctx context.Context, by *caller, intent activity.VoteIntent) (*pending, error) {
	found, err := e.config.Store.Find(ctx, by.organization.ID, intent.Fingerprint)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, refuseStore(err)
	}
	var record *activity.Record
	if err == nil {
		if record, err = decodeRecorded(ctx, &found); err != nil {
			return nil, err
		}
	}
	if record == nil || !by.mayRead(record) {
		return nil, activity.NewError(activity.ReasonNotFound, "fingerprint", store.ErrNotFound,
			"no activity found with fingerprint %s: a vote names that of the activity it is on", intent.Fingerprint)
	}
	if digest := shownDigest(record); intent.Shown != "" && record.Reading != nil && intent.Shown != digest {
		return nil, activity.NewError(activity.ReasonRequestInvalid, "shown", nil,
			"shown: the vote was made on something else than what is to be signed, whose digest is %s", digest)
	}
	return &pending{record, found.Revision}, nil
}

func shownDigest(record *activity.Record) string {
	if record.Reading == nil {
		return ""
	}
	digest := record.Reading.Digest()
	return hex.EncodeToString(digest[:])
}

// countVote writes the vote into the record, unless it counts already, and does
// what follows from it.
func (e *Engine) countVote(ctx context.Context, by *caller, request *activity.Request, intent activity.VoteIntent, waiting *pending, seen *Observation) (*activity.Record, error) {
	if !waiting.Status.Waits() {
		seen.Repeated = true
		return waiting.Record, nil
	}
	if e.abandoned(waiting.Record) {
		return e.reject(ctx, waiting, "its votes did not come in time")
	}
	if mine := latestVote(waiting.Record, by.member.User.ID); mine != nil && !request.Time().After(mine.StampedAt) {
		seen.Repeated = true // sent again, or older than the one that counts
		if mine.Selection == activity.SelectionApproved {
			return e.resume(ctx, waiting, seen)
		}
		return waiting.Record, nil
	}
	if err := e.checkVoter(ctx, by, request, intent, waiting); err != nil {
		return nil, err
	}
	after, err := withVote(waiting.Record, by, request, intent, e.config.Now())
	if err != nil {
		return nil, err
	}
	if intent.Selection() == activity.SelectionRejected {
		after.Status = activity.StatusRejected
		after.Decision.Reason = ""
		if err := e.prove(after, nil); err != nil {
			return nil, err
		}
	}
	if err := e.replace(ctx, after, waiting.revision); err != nil {
		return nil, err
	}
	waiting = &pending{after, waiting.revision + 1}
	if !after.Status.Waits() {
		return after, nil
	}
	return e.resume(ctx, waiting, seen)
}

// latestVote returns the vote of a user behind the submitter's stamp, which is on
// the request itself; nil if there is none.
func latestVote(record *activity.Record, user string) *activity.Vote {
	for i := range record.Votes[1:] {
		if vote := &record.Votes[1+i]; vote.UserID == user {
			return vote
		}
	}
	return nil
}

// withVote returns a copy of the record in which a user's newest vote has taken
// the place of an older one.
func withVote(record *activity.Record, by *caller, request *activity.Request, intent activity.VoteIntent, now time.Time) (*activity.Record, error) {
	vote, err := by.vote(intent.Selection(), string(request.Body), request.Time(), now)
	if err != nil {
		return nil, err
	}
	after := *record
	after.Votes = slices.DeleteFunc(slices.Clone(record.Votes[1:]), func(other activity.Vote) bool { return other.UserID == vote.UserID })
	after.Votes = append(append([]activity.Vote{record.Votes[0]}, after.Votes...), vote)
	after.UpdatedAt = now
	return &after, nil
}

// checkVoter refuses a vote that does not count. Its stamp is then spent: it does
// not count later either, when its voter has been given the right to vote.
func (e *Engine) checkVoter(ctx context.Context, by *caller, request *activity.Request, intent activity.VoteIntent, waiting *pending) error {
	spent := spentVote(by, request)
	j, err := e.judge(ctx, waiting.Record, nil)
	if err != nil {
		return err
	}
	counts := admits(j.groups, by.member, submitterID(waiting.Record), j.now)
	if intent.Selection() == activity.SelectionRejected {
		counts = mayReject(j.groups, by.member, submitterID(waiting.Record), j.now)
	}
	refused := activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
		"not authorized: no rule that this activity waits for counts a vote of this user with this credential")
	until := e.keepUntil(request, e.config.Now())
	return e.config.Store.Change(ctx, by.organization.ID, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
		if counts {
			entry, err := ledger.Read(spent)
			if err == nil && entry.Value != nil {
				return refused, nil
			}
			return nil, err
		}
		if _, err := ledger.Lock(spent); err != nil {
			return nil, err
		}
		return refused, ledger.Write(spent, store.Entry{Value: []byte{1}, KeepUntil: until})
	}))
}

// spentVote is where it is noted that a vote was refused. Two users may send the
// same body.
func spentVote(by *caller, request *activity.Request) store.Key {
	named := append([]byte("countersign vote v1"), request.Fingerprint[:]...)
	return store.Key{Kind: store.KindVote, ID: sha256.Sum256(append(named, by.member.Credential.ID()...))}
}

// checkVote refuses what vote would refuse, without doing anything.
func (e *Engine) checkVote(ctx context.Context, request *activity.Request, intent activity.VoteIntent, headers []stamp.Header) error {
	by, err := e.admitVote(ctx, request, headers)
	if err == nil {
		_, err = e.votedOn(ctx, by, intent)
	}
	return err
}

// awaitHolder waits until an activity is not being carried out any more.
func (e *Engine) awaitHolder(ctx context.Context, waiting *pending) error {
	claim := e.claim(waiting.Request)
	claim.Revision, claim.Now = waiting.revision, e.config.Now()
	begun, err := e.config.Store.Begin(ctx, claim, nil)
	switch {
	case errors.Is(err, store.ErrChanged):
		return nil
	case err != nil:
		return err
	case begun.Wait != nil:
		return begun.Wait(ctx)
	case begun.Lease != nil:
		e.release(ctx, *begun.Lease, nil)
	}
	return nil
}
