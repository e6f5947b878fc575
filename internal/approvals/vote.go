package approvals

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// voteAttempts bounds how often a vote is counted again because others voted at the same time.
const voteAttempts = 200

// Vote counts a vote that was admitted, and carries the activity out if it was the last
// one needed. It returns the activity as it then stands.
//
// The vote is in the store before anything is done about it: if the node dies after
// that, another one continues.
func (a *Approvals) Vote(ctx context.Context, s *request.Submission, intent activity.VoteIntent) (*activity.Record, error) {
	for range voteAttempts {
		waiting, err := a.VotedOn(ctx, s.Caller, intent)
		if err != nil {
			return nil, err
		}
		record, err := a.countVote(ctx, s, intent, waiting)
		switch {
		case errors.Is(err, store.ErrHeld):
			err = a.awaitHolder(ctx, waiting)
		case errors.Is(err, store.ErrChanged):
			err = nil
		case err == nil:
			return record, nil
		}
		if err != nil {
			return nil, refuse.Store(err)
		}
	}
	return nil, activity.NewError(activity.ReasonUnavailable, "", nil, "others keep voting on this activity: send the same vote again")
}

// VotedOn finds the activity that a vote is on. An activity that the voter may not read
// gets the same answer as one that does not exist.
func (a *Approvals) VotedOn(ctx context.Context, voter *request.Caller, intent activity.VoteIntent) (*pending, error) {
	waiting, err := store.Activity{}, store.ErrNotFound
	if a.Records.Waiter != nil {
		waiting, err = a.Records.Waiter.Find(ctx, voter.Organization.ID, intent.Fingerprint)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, refuse.Store(err)
	}
	var record *activity.Record
	var readable bool
	if err == nil {
		if record, err = records.Decode(ctx, &waiting); err != nil {
			return nil, err
		}
		if readable, err = a.MayRead(ctx, voter, record); err != nil {
			return nil, err
		}
	}
	if !readable {
		return nil, activity.NewError(activity.ReasonNotFound, "fingerprint", store.ErrNotFound,
			"no activity found with fingerprint %s: a vote names that of the activity it is on", intent.Fingerprint)
	}
	if intent.Shown != "" && record.Reading != nil {
		if digest := records.HexDigest(record.Reading.Digest()); intent.Shown != digest {
			return nil, activity.NewError(activity.ReasonRequestInvalid, "shown", nil,
				"shown: the vote is not on what is to be signed, whose digest is %s", digest)
		}
	}
	return &pending{record, waiting.Revision, voter.Organization}, nil
}

// countVote adds the vote to the record, unless it counts already, and does what follows from it.
func (a *Approvals) countVote(ctx context.Context, s *request.Submission, intent activity.VoteIntent,
	waiting *pending) (*activity.Record, error) {
	if !waiting.Status.Waits() {
		s.Repeated = true
		return waiting.Record, nil
	}
	if a.abandoned(waiting.Record) {
		return a.reject(ctx, waiting)
	}
	voted := waiting.Votes[1:] // the submitter's stamp is on the request itself
	byVoter := func(vote activity.Vote) bool { return vote.UserID == s.Caller.Member.User.ID }
	if i := slices.IndexFunc(voted, byVoter); i >= 0 && !s.Request.Time().After(voted[i].StampedAt) {
		s.Repeated = true // sent again, or older than the one that counts
	} else {
		if err := a.checkVoter(ctx, s, intent, waiting); err != nil {
			return nil, err
		}
		vote := s.Caller.Vote(intent.Selection(), string(s.Request.Body), s.Request.Time(), a.Records.Now())
		after := *waiting.Record
		after.Votes = slices.Concat(waiting.Votes[:1], slices.DeleteFunc(slices.Clone(voted), byVoter), []activity.Vote{vote})
		if vote.Selection == activity.SelectionRejected {
			after.Status, after.Decision.Reason = activity.StatusRejected, ""
		} else if err := a.Records.RefuseStopped(ctx, after.Request.OrganizationID, request.Recorded{Record: &after}); err != nil {
			return nil, err
		}
		counted, err := a.update(ctx, waiting, &after)
		if err != nil || !counted.Status.Waits() {
			return counted, err
		}
		waiting = &pending{counted, waiting.revision + 1, waiting.organization}
	}
	return a.resume(ctx, s, waiting)
}

// checkVoter refuses a vote that does not count. Its stamp is then spent: the vote does
// not count later either, when its voter has been given the right to vote.
func (a *Approvals) checkVoter(ctx context.Context, s *request.Submission, intent activity.VoteIntent, waiting *pending) error {
	j, err := a.judge(ctx, waiting.organization, waiting.Record, a.Records.Spent(waiting.Request.Fingerprint))
	if err != nil {
		return err
	}
	counts := j.admits(s.Caller.Member)
	if intent.Selection() == activity.SelectionRejected {
		counts = j.mayReject(s.Caller.Member)
	}
	refused := activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
		"not authorized: no rule that this activity waits for counts a vote of this user with this credential")
	// It depends on the credential too, since two users may send the same body.
	named := append([]byte("countersign vote v1"), s.Request.Fingerprint[:]...)
	spent := store.Key{Kind: store.KindVote, ID: sha256.Sum256(append(named, s.Caller.Member.Credential.ID()...))}
	until := a.Records.KeepUntil(s.Request, a.Records.Now())
	return a.Records.Store.Change(ctx, s.Caller.Organization.ID, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
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

// awaitHolder waits until no one is carrying out the activity.
func (a *Approvals) awaitHolder(ctx context.Context, waiting *pending) error {
	claim := a.Records.Claim(&request.Submission{Request: waiting.Request})
	claim.Of = nil // nothing is carried out
	claim.Revision, claim.Now = waiting.revision, a.Records.Now()
	begun, err := a.Records.Store.Begin(ctx, claim, nil)
	switch {
	case errors.Is(err, store.ErrChanged):
		return nil
	case err != nil:
		return err
	case begun.Wait != nil:
		return begun.Wait(ctx)
	case begun.Lease != nil:
		a.Records.Release(ctx, *begun.Lease, nil)
	}
	return nil
}
