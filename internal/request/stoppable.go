package request

import (
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/translog"
)

// Concerns implements store.Stoppable: a stop is of the organization, of who submitted or
// approved the activity, or of a key that signs. None applies to halts.
func (s *Submission) Concerns(subject string) bool {
	if s.Intent.ActivityType().Halts() {
		return false
	}
	by := s.Caller != nil && subject == translog.UserSubject(s.Caller.Member.User.ID)
	signs := s.Signs()
	return subject == "" || by || signs != nil && isKey(subject, signs.KeyIDs()) ||
		s.Record != nil && Recorded{s.Record}.Concerns(subject)
}

// Recorded is a recorded activity as a store.Stoppable.
type Recorded struct{ *activity.Record }

// Concerns implements store.Stoppable.
func (r Recorded) Concerns(subject string) bool {
	if r.Request.Type.Halts() {
		return false
	}
	approved := func(vote activity.Vote) bool {
		return vote.Selection == activity.SelectionApproved && subject == translog.UserSubject(vote.UserID)
	}
	return subject == "" || slices.ContainsFunc(r.Votes, approved) || r.Did != nil && isKey(subject, r.Did.KeyIDs) ||
		r.Reading != nil && isKey(subject, r.Reading.KeyIDs)
}

func isKey(subject string, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return subject == translog.KeySubject(id) })
}
