// Package approvals is the life of an activity that needs more votes than its submitter's. It is
// recorded and waits (Wait). A vote on it is a request of its own (Vote): the activity is judged as
// the directory, the keys and the policy are at that time, and the last vote that it needs carries
// it out. What stopped it then is tried again later (ResumeAll). Who may read an activity, and what
// a reader can do about it, is decided here too (MayRead, ShownTo).
package approvals

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// Approvals has activities wait for votes, counts these, and carries an activity out with
// the last vote that it needs.
type Approvals struct {
	// What an activity that waits takes of the engine: it is prepared and judged again, as if it
	// were submitted now. Prepare sets the task of a submission. Ask asks the policy about one
	// that has these votes.
	Prepare func(ctx context.Context, s *request.Submission) error
	Ask     func(ctx context.Context, s *request.Submission, votes []access.Vote, spent access.SpentReader) (access.Decision, error)

	Records   *records.Keeper
	Directory access.Directory
	Names     chains.Names
}

// withAges returns the groups with the default age of votes where a rule sets none.
func withAges(groups []access.Group) []access.Group {
	aged := slices.Clone(groups)
	for i := range aged {
		aged[i].Within, aged[i].Missing = cmp.Or(aged[i].Within, access.DefaultVoteAge), 0
	}
	return aged
}

// Wait records a request that needs votes. It ends the lease.
func (a *Approvals) Wait(ctx context.Context, s *request.Submission) (*activity.Record, error) {
	record, err := a.waiting(ctx, s)
	var event *store.Event
	if err == nil {
		now, needed := a.Records.Now(), 0 // in addition to the submitter's vote
		for _, missing := range access.Missing(record.Decision.Required, s.OwnVote(now), s.Caller.Member.User.ID, now) {
			needed += missing
		}
		event, err = a.Records.Tell(record, needed)
	}
	if err == nil {
		err = a.Records.Complete(ctx, s, record, event, operation.Outcome{})
	}
	if err != nil {
		a.Records.Release(ctx, s.Lease, nil)
		return nil, err
	}
	return record, nil
}

// waiting returns the record of a request that needs votes.
func (a *Approvals) waiting(ctx context.Context, s *request.Submission) (*activity.Record, error) {
	reading, err := s.Signs().Recorded(ctx, a.Names)
	if err != nil {
		return nil, err
	}
	record := a.Records.New(s)
	record.Status, record.Reading = activity.StatusConsensusNeeded, reading
	record.Decision.Charges = nil
	record.Decision.Required = withAges(s.Decision.Approvals)
	return record, nil
}

// Refuse returns the refusal of a request that needs approvals and cannot wait
// for them, or nil if it has all its votes.
func Refuse(groups []access.Group, votes []access.Vote, submitter string, now time.Time) error {
	for i, missing := range access.Missing(withAges(groups), votes, submitter, now) {
		if group := &groups[i]; missing > 0 {
			tagged := ""
			if group.Tag != "" {
				tagged = fmt.Sprintf(" of users with the tag %s", group.Tag)
			}
			return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
				"not authorized: rule %s needs more approvals%s (%d missing), for which only a submitted "+
					"transaction can wait", group.Rule, tagged, missing)
		}
	}
	return nil
}
