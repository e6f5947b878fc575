package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// Outcomes of an activity, in the past or under a file.
const (
	OutcomeAllowed   = "allowed"
	OutcomeDenied    = "denied"
	OutcomeApprovals = "approvals" // waits, or would wait, for votes
	OutcomeFailed    = "failed"
	OutcomeRejected  = "rejected" // by a vote, or after waiting too long
	OutcomeUnknown   = "unknown"  // can no longer be read or prepared
)

// Replayed is a recorded activity and what a file decides about it.
type Replayed struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	User   string    `json:"user"`
	Type   string    `json:"type"`
	Before string    `json:"before"`
	After  string    `json:"after"`

	// Changes describes the differences, one each. It is empty if the file decides
	// the same.
	Changes []string `json:"changes,omitempty"`

	Rules   []string      `json:"rules,omitempty"`   // that decide
	Refusal string        `json:"refusal,omitempty"` // why it is denied or unknown
	Votes   ReplayedVotes `json:"votes"`
	Charges []Charge      `json:"charges,omitempty"` // by the file
}

// ReplayedVotes are the numbers of votes that were and would be required. They are zero
// if the submitter's own vote is enough.
type ReplayedVotes struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// Replay decides recorded activities by a file, oldest first. Limits start empty and count
// by the times of the activities; only what the file allows is charged. A Replay must be
// used by one goroutine.
type Replay struct {
	file   *File
	ledger *memory.Store
	last   time.Time // of the latest activity
	swept  time.Time
}

// NewReplay starts a replay.
func (f *File) NewReplay() *Replay { return &Replay{file: f.timeless(), ledger: memory.New(0)} }

// Close releases the ledger.
func (r *Replay) Close() error { return r.ledger.Close() }

// Next decides about an activity. requests and problem are the results of
// [countersign.Operator.AskedAbout]. Next returns an error if the policy or the ledger
// fails, or if the activity is earlier than the one before.
func (r *Replay) Next(
	ctx context.Context, record *activity.Record, requests []access.Authorization, problem error,
) (*Replayed, error) {
	result := &Replayed{
		ID: record.ID, At: record.CreatedAt, User: record.Submitter().UserName, Type: string(record.Request.Type),
		Before: cmp.Or(outcomes[record.Status], OutcomeApprovals),
	}
	for i := range record.Decision.Required {
		result.Votes.Before += record.Decision.Required[i].Count
	}
	if problem != nil {
		result.After, result.Refusal = OutcomeUnknown, problem.Error()
		result.Changes = []string{"not decided: " + problem.Error()}
		return result, nil //nolint:nilerr // the problem is what is reported
	}
	for i := range requests {
		r.resolveUsers(&requests[i])
	}
	request := &requests[0]
	if request.Now.Before(r.last) {
		return nil, fmt.Errorf("policy: replay: activity %s of %v comes after one of %v",
			record.ID, request.Now, r.last)
	}
	r.last = request.Now
	if r.last.Sub(r.swept) >= 24*time.Hour { // entries outside their windows, once per replayed day
		r.swept = r.last
		if _, err := r.ledger.Sweep(ctx, r.last); err != nil {
			return nil, err
		}
	}
	decision, err := r.decide(ctx, record, requests)
	if err != nil && !errors.Is(err, access.ErrDenied) {
		return nil, err
	}
	result.decided(decision, err, request)
	if result.After == OutcomeAllowed {
		if result.Charges, err = r.charged(ctx, request, decision.Charges); err != nil {
			return nil, err
		}
	}
	result.compare(record, decision)
	return result, nil
}

// resolveUsers completes the users that the file knows. For calls without a stamp and for
// removed credentials, the record has only the user's id.
func (r *Replay) resolveUsers(request *access.Authorization) {
	request.Votes = slices.Clone(request.Votes)
	users := []*access.User{&request.User}
	for i := range request.Votes {
		users = append(users, &request.Votes[i].User)
	}
	for _, user := range users {
		if known, ok := r.file.User(user.ID); ok && known.ID == user.ID {
			*user = known
		}
	}
}

// decide decides by the file, about each transaction of a list, and charges what it allows.
func (r *Replay) decide(
	ctx context.Context, record *activity.Record, requests []access.Authorization,
) (whole access.Decision, err error) {
	spending, request := r.spending(), &requests[0]
	for i := range requests {
		requests[i].Spent = spending
		decision, err := r.file.Decide(ctx, requests[i])
		switch {
		case err != nil && len(requests) > 1:
			return whole, fmt.Errorf("transactions[%d]: %w", i, err)
		case err != nil:
			return decision, err
		}
		spending.Add(decision.Charges)
		whole.Merge(&decision)
	}
	if missingAny(&whole, request) {
		return whole, nil
	}
	charges := store.Charges{By: record.Request.Fingerprint, List: whole.Charges}
	if request.Wallet != nil {
		charges.By = request.Wallet.ChargeID
	}
	if change := charges.Take(request.Now, nil); change != nil {
		err = r.ledger.Change(ctx, record.Request.OrganizationID, change)
	}
	return whole, err
}

// spending returns what the limits of the replay have counted at the time of the latest activity.
func (r *Replay) spending() *store.Spending {
	return store.NewSpending(r.ledger, store.Fingerprint{}, func() time.Time { return r.last })
}

func (r *Replayed) decided(decision access.Decision, err error, request *access.Authorization) {
	r.After, r.Rules = OutcomeAllowed, decision.Rules
	switch {
	case err != nil:
		r.After, r.Refusal = OutcomeDenied, err.Error()
		return
	case missingAny(&decision, request):
		r.After = OutcomeApprovals
	}
	submitted := *request
	others := func(vote access.Vote) bool { return vote.User.ID != request.User.ID }
	submitted.Votes = slices.DeleteFunc(slices.Clone(request.Votes), others)
	if missingAny(&decision, &submitted) {
		r.Votes.After = votes(decision.Approvals)
	}
}

func (r *Replayed) compare(record *activity.Record, decision access.Decision) {
	if r.Before != r.After {
		r.Changes = append(r.Changes, r.Before+" → "+r.After)
	}
	if r.After == OutcomeDenied {
		return
	}
	if r.Votes.Before != r.Votes.After {
		r.Changes = append(r.Changes, fmt.Sprintf("votes required: %d → %d", r.Votes.Before, r.Votes.After))
	}
	if r.Before != OutcomeAllowed || r.After != OutcomeAllowed {
		return
	}
	var before, after []string
	for _, charge := range record.Decision.Charges {
		before = append(before, chargeText(charge.Limit, charge.Amount, charge.Max, charge.Window))
	}
	for _, charge := range decision.Charges {
		after = append(after, chargeText(charge.Limit, charge.Amount, charge.Max, charge.Window))
	}
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		r.Changes = append(r.Changes, "limits: "+cmp.Or(strings.Join(before, ", "), "none")+" → "+
			cmp.Or(strings.Join(after, ", "), "none"))
	}
}

// chargeText says what a charge counts, for a comparison of the recorded ones with those of a file.
func chargeText(limit string, amount, most *big.Int, window time.Duration) string {
	return fmt.Sprintf("%s %v of %v in %v", limit, amount, most, window)
}

// charged returns charges with what their limits have counted.
func (r *Replay) charged(ctx context.Context, request *access.Authorization, charges []store.Charge) ([]Charge, error) {
	described, spending := make([]Charge, len(charges)), r.spending()
	for i, charge := range charges {
		counted := charge
		counted.Amount = nil // with what it replaced
		sum, _, err := spending.Spent(ctx, organizationID(request), counted)
		if err != nil {
			return nil, err
		}
		described[i] = r.file.chargeText(charge)
		described[i].Spent = r.file.limits[charge.Limit].asset.decimal(sum)
	}
	return described, nil
}

// outcomes are those of recorded activities. One of any other status waits.
var outcomes = map[activity.Status]string{
	activity.StatusCompleted: OutcomeAllowed,
	activity.StatusRejected:  OutcomeRejected,
	activity.StatusFailed:    OutcomeFailed,
}
