// Package request has the state of one request in the engine: the [Submission], to which each
// step adds its results, and the [Caller] that sent it.
package request

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// Submission is one request on its way through the engine: one with a stamp, or a call by
// the process that embeds the engine. Its log line is written from it at the end.
type Submission struct {
	Operation string // path of the operation; empty if the body did not say

	// Read from the body, and unverified until Caller is set.
	OrganizationID string
	Intent         activity.Intent
	Request        *activity.Request // nil for a call that is not recorded

	Caller *Caller        // who sent it; nil for a call by no user
	Call   *Call          // what a call asks for; nil for a request with a stamp
	Task   operation.Task // what it asks for, ready to be carried out

	Attempt
}

// Attempt is what came of an attempt to carry out a request. A call can be carried out again.
type Attempt struct {
	Started   time.Time
	Duration  time.Duration // set at the end
	Performed time.Duration // of carrying out the task; 0 if it did not come to that
	Repeated  bool          // the answer was recorded before

	Decision access.Decision // what the policy demands of the request
	Waits    bool            // Decision demands more votes than the caller's
	Charges  store.Charges   // taken with the lease
	Lease    store.Lease
	Result   activity.Result // nil until the task was performed

	// Record is the answer. In the submission of an activity that waits, it is the
	// record as it waits.
	Record *activity.Record

	// Resumed is the waiting activity that this request carried out: a vote or a sweep.
	Resumed *Submission
}

// New returns the submission of a request to an operation that has just arrived.
func New(operation string) *Submission {
	return &Submission{Operation: operation, Attempt: Attempt{Started: time.Now()}}
}

// Restart begins another attempt to carry out a call.
func (s *Submission) Restart() { s.Call, s.Attempt = nil, Attempt{Started: time.Now()} }

// CheckCaller refuses a call that its caller may not make: see Caller.CheckType.
func (s *Submission) CheckCaller(ctx context.Context, directory access.Directory) error {
	if s.Caller == nil || s.Intent == nil {
		return nil
	}
	return s.Caller.CheckType(ctx, directory, s.Intent.ActivityType())
}

// Carried returns the submission whose task is carried out: a vote's is that of the
// activity it is on.
func (s *Submission) Carried() *Submission {
	if s.Resumed != nil {
		return s.Resumed
	}
	return s
}

// Signs returns what the task signs, nil if it signs nothing or is not prepared.
func (s *Submission) Signs() operation.SigningTask {
	if s.Task == nil {
		return nil
	}
	return s.Task.Signs()
}

// ChargedBy returns what the limits charge the request as: its fingerprint or, if it signs for
// a registered wallet, what identifies that the wallet pays for the transaction. The second
// cosigner's request for the same transaction is then not charged again.
func (s *Submission) ChargedBy() store.Fingerprint {
	if signs := s.Signs(); signs != nil && signs.Wallets().Only != nil {
		return signs.Wallets().Only.ChargeID
	}
	return s.Request.Fingerprint
}

// SharesCharges reports whether other requests may have been charged together with this one.
// Then nothing is refunded if it fails: another one may have been signed.
func (s *Submission) SharesCharges() bool { return s.Charges.By != s.Request.Fingerprint }

// OwnVote returns the approval that a submission is of itself: none, unless the credential that
// submitted it may vote. Whether it counts is up to each group.
func (s *Submission) OwnVote(now time.Time) []access.Vote {
	if !s.Caller.Member.May(activity.TypeApproveActivity) {
		return nil
	}
	return []access.Vote{{User: s.Caller.Member.User, Credential: s.Caller.Member.Credential, At: now}}
}

// Path returns the path of a type, or "" if it is not served.
func Path(kind activity.Type) string { return paths[kind] }

var paths = func() map[activity.Type]string {
	paths := map[activity.Type]string{}
	for _, operation := range activity.Operations() {
		paths[operation.Type] = operation.Path
	}
	return paths
}()

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

// NewID returns a UUID of version 7 (RFC 9562): of the ids that one process makes, each is
// greater than those before it, whatever the clock does. It does not fail: a system without
// randomness ends the program.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }
