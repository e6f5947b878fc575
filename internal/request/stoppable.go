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
	var keys []string
	if signs := s.Signs(); signs != nil {
		keys = signs.KeyIDs()
	}
	by := s.Caller != nil && subject == translog.UserSubject(s.Caller.Member.User.ID)
	return by || s.Record != nil && Recorded{s.Record}.Concerns(subject) || isOf(subject, keys)
}

// Recorded is a recorded activity as a store.Stoppable.
type Recorded struct{ *activity.Record }

// Concerns implements store.Stoppable.
func (r Recorded) Concerns(subject string) bool {
	var keys []string
	switch {
	case r.Request.Type.Halts():
		return false
	case r.Did != nil:
		keys = r.Did.KeyIDs
	case r.Reading != nil:
		keys = r.Reading.KeyIDs
	}
	return isOf(subject, keys) || slices.ContainsFunc(r.Votes, func(vote activity.Vote) bool {
		return vote.Selection == activity.SelectionApproved && subject == translog.UserSubject(vote.UserID)
	})
}

// isOf reports whether the subject is the organization or one of the keys.
func isOf(subject string, keys []string) bool {
	return subject == "" || slices.ContainsFunc(keys, func(id string) bool { return subject == translog.KeySubject(id) })
}
