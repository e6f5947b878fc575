package countersign

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// voteAttempts bounds how often a vote is counted again because others voted at the
// same time.
const voteAttempts = 200

// vote counts a vote that was admitted, and carries the activity out if it was the last
// one needed. It returns the activity as it then stands.
//
// The vote is in the store before anything is done about it: if the node dies after
// that, another one continues.
func (e *Engine) vote(ctx context.Context, s *submission, intent activity.VoteIntent) (*activity.Record, error) {
	for range voteAttempts {
		waiting, err := e.votedOn(ctx, s.caller, intent)
		if err != nil {
			return nil, err
		}
		record, err := e.countVote(ctx, s, intent, waiting)
		switch {
		case errors.Is(err, store.ErrHeld):
			err = e.awaitHolder(ctx, waiting)
		case errors.Is(err, store.ErrChanged):
			err = nil
		case err == nil:
			return record, nil
		}
		if err != nil {
			return nil, refuseStore(err)
		}
	}
	return nil, activity.NewError(activity.ReasonUnavailable, "", nil, "others keep voting on this activity: send the same vote again")
}

// votedOn finds the activity that a vote is on. An activity that the voter may not read
// gets the same answer as one that does not exist.
func (e *Engine) votedOn(ctx context.Context, voter *caller, intent activity.VoteIntent) (*pending, error) {
	found, err := e.config.Store.Find(ctx, voter.organization.ID, intent.Fingerprint)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, refuseStore(err)
	}
	var record *activity.Record
	var readable bool
	if err == nil {
		if record, err = decodeRecorded(ctx, &found); err != nil {
			return nil, err
		}
		if readable, err = e.mayRead(ctx, voter, record); err != nil {
			return nil, err
		}
	}
	if !readable {
		return nil, activity.NewError(activity.ReasonNotFound, "fingerprint", store.ErrNotFound,
			"no activity found with fingerprint %s: a vote names that of the activity it is on", intent.Fingerprint)
	}
	if intent.Shown != "" && record.Reading != nil {
		if digest := hexDigest(record.Reading.Digest()); intent.Shown != digest {
			return nil, activity.NewError(activity.ReasonRequestInvalid, "shown", nil,
				"shown: the vote is not on what is to be signed, whose digest is %s", digest)
		}
	}
	return &pending{record, found.Revision, voter.organization}, nil
}

// countVote adds the vote to the record, unless it counts already, and does what
// follows from it.
func (e *Engine) countVote(ctx context.Context, s *submission, intent activity.VoteIntent, waiting *pending) (*activity.Record, error) {
	if !waiting.Status.Waits() {
		s.Repeated = true
		return waiting.Record, nil
	}
	if e.abandoned(waiting.Record) {
		return e.reject(ctx, waiting)
	}
	if counted := latestVote(waiting.Record, s.caller.member.User.ID); counted != nil && !s.request.Time().After(counted.StampedAt) {
		s.Repeated = true // sent again, or older than the one that counts
		if counted.Selection == activity.SelectionApproved {
			return e.resume(ctx, s, waiting)
		}
		return waiting.Record, nil
	}
	if err := e.checkVoter(ctx, s, intent, waiting); err != nil {
		return nil, err
	}
	after, err := withVote(waiting.Record, s, intent, e.config.Now())
	if err != nil {
		return nil, err
	}
	if intent.Selection() == activity.SelectionRejected {
		after.Status, after.Decision.Reason = activity.StatusRejected, ""
	}
	if after, err = e.update(ctx, waiting, after); err != nil || !after.Status.Waits() {
		return after, err
	}
	return e.resume(ctx, s, &pending{after, waiting.revision + 1, waiting.organization})
}

// latestVote returns a user's vote after the submitter's stamp, which is on the request
// itself; or nil.
func latestVote(record *activity.Record, user string) *activity.Vote {
	for i := range record.Votes[1:] {
		if vote := &record.Votes[1+i]; vote.UserID == user {
			return vote
		}
	}
	return nil
}

// withVote returns a copy of the record in which the user's new vote replaces any
// older one.
func withVote(record *activity.Record, s *submission, intent activity.VoteIntent, now time.Time) (*activity.Record, error) {
	vote, err := s.caller.vote(intent.Selection(), string(s.request.Body), s.request.Time(), now)
	if err != nil {
		return nil, err
	}
	after := *record
	after.Votes = slices.DeleteFunc(slices.Clone(record.Votes[1:]), func(other activity.Vote) bool { return other.UserID == vote.UserID })
	after.Votes = append(append([]activity.Vote{record.Votes[0]}, after.Votes...), vote)
	return &after, nil
}

// checkVoter refuses a vote that does not count. Its stamp is then spent: the vote does
// not count later either, when its voter has been given the right to vote.
func (e *Engine) checkVoter(ctx context.Context, s *submission, intent activity.VoteIntent, waiting *pending) error {
	j, err := e.judge(ctx, waiting.organization, waiting.Record, e.spent(waiting.Request.Fingerprint))
	if err != nil {
		return err
	}
	counts := j.admits(s.caller.member)
	if intent.Selection() == activity.SelectionRejected {
		counts = j.mayReject(s.caller.member)
	}
	refused := activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
		"not authorized: no rule that this activity waits for counts a vote of this user with this credential")
	spent, until := spentVote(s), e.keepUntil(s.request, e.config.Now())
	return e.config.Store.Change(ctx, s.caller.organization.ID, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
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

// spentVote returns the key under which the ledger notes that a vote was refused. It
// depends on the credential too, since two users may send the same body.
func spentVote(s *submission) store.Key {
	named := append([]byte("countersign vote v1"), s.request.Fingerprint[:]...)
	return store.Key{Kind: store.KindVote, ID: sha256.Sum256(append(named, s.caller.member.Credential.ID()...))}
}

// awaitHolder waits until no one is carrying out the activity.
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
