package policy

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// What became of an activity, and what a file would make of it.
const (
	OutcomeAllowed   = "allowed"
	OutcomeDenied    = "denied"
	OutcomeApprovals = "approvals" // it waits, or would wait, for votes
	OutcomeFailed    = "failed"
	OutcomeRejected  = "rejected" // by a vote, or because it waited too long
	OutcomeUnknown   = "unknown"  // it cannot be read or prepared any more
)

// Replayed is an activity of the past and what a file would make of it.
type Replayed struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	User   string    `json:"user"`
	Type   string    `json:"type"`
	Before string    `json:"before"`
	After  string    `json:"after"`

	// Changes are in words, one a difference; none: the file decides the same.
	Changes []string `json:"changes,omitempty"`

	Rules   []string        `json:"rules,omitempty"`   // that decide
	Refusal string          `json:"refusal,omitempty"` // why it is denied or not known
	Votes   ReplayedVotes   `json:"votes"`
	Charges []ReplayedLimit `json:"charges,omitempty"` // of the file
}

// ReplayedVotes are how many votes were and would be demanded; none where the
// submitter's own is enough.
type ReplayedVotes struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// ReplayedLimit is a charge of a limit, and what the limit has counted with it.
type ReplayedLimit struct {
	Limit   string `json:"limit"`
	Subject string `json:"subject"`
	Amount  string `json:"amount"`
	Spent   string `json:"spent"`
	Max     string `json:"max"`
}

// Replay asks a file about the past, one activity after the other, the oldest
// first. Its limits start empty, and count as those of an engine do, by the times of
// the activities: only what the file allows is charged. It is used by one goroutine.
type Replay struct {
	file   *File
	ledger *memory.Store
	last   time.Time // of the latest activity
	swept  time.Time
}

// NewReplay starts a replay under a file.
func (f *File) NewReplay() *Replay { return &Replay{file: f, ledger: memory.New(0)} }

// Close releases the ledger.
func (r *Replay) Close() error { return r.ledger.Close() }

// Next asks the file about an activity. asked is what [countersign.Engine.AskedAbout]
// returns, with its error. The error of Next is that of a policy or a ledger that
// could not be used, or says that the activities are not in order.
func (r *Replay) Next(ctx context.Context, record *activity.Record, asked countersign.Authorization, problem error) (*Replayed, error) {
	seen := &Replayed{
		ID: record.ID, At: record.CreatedAt, User: record.Submitter().UserName, Type: string(record.Request.Type),
		Before: outcomeOf(record), Votes: ReplayedVotes{Before: demanded(record)},
	}
	if problem != nil {
		seen.After, seen.Refusal = OutcomeUnknown, problem.Error()
		seen.Changes = []string{"not decided: " + problem.Error()}
		return seen, nil //nolint:nilerr // the problem is what is reported
	}
	r.knows(&asked)
	if asked.Now.Before(r.last) {
		return nil, fmt.Errorf("policy: replay: activity %s of %v comes after one of %v", record.ID, asked.Now, r.last)
	}
	r.last = asked.Now
	if err := r.sweep(ctx); err != nil {
		return nil, err
	}
	decision, err := r.decide(ctx, record, &asked)
	if err != nil && !errors.Is(err, countersign.ErrDenied) {
		return nil, err
	}
	seen.decided(decision, err, &asked)
	if seen.After == OutcomeAllowed {
		if seen.Charges, err = r.charged(ctx, &asked, decision.Charges); err != nil {
			return nil, err
		}
	}
	seen.compare(record, decision)
	return seen, nil
}

// sweep removes from the ledger what has left its windows, once a day of the past.
func (r *Replay) sweep(ctx context.Context) error {
	if r.last.Sub(r.swept) < 24*time.Hour {
		return nil
	}
	r.swept = r.last
	_, err := r.ledger.Sweep(ctx, r.last)
	return err
}

// knows gives users whom the file knows their tags: of a call without a stamp, and of
// a credential that is gone, the record has the id alone.
func (r *Replay) knows(asked *countersign.Authorization) {
	asked.Votes = slices.Clone(asked.Votes)
	users := []*countersign.User{&asked.User}
	for i := range asked.Votes {
		users = append(users, &asked.Votes[i].User)
	}
	for _, user := range users {
		if known, ok := r.file.User(user.ID); ok && known.ID == user.ID {
			*user = known
		}
	}
}

// decide asks the file, and charges what it allows.
func (r *Replay) decide(ctx context.Context, record *activity.Record, asked *countersign.Authorization) (countersign.Decision, error) {
	asked.Spent = replayedSpent{r.ledger, asked.Now}
	decision, err := r.file.Decide(ctx, *asked)
	if err != nil || missingAny(&decision, asked) || len(decision.Hazards) < len(asked.Hazards) {
		return decision, err
	}
	charges := store.Charges{By: record.Request.Fingerprint, List: decision.Charges}
	if change := charges.Take(asked.Now, nil); change != nil {
		err = r.ledger.Change(ctx, record.Request.OrganizationID, change)
	}
	return decision, err
}

// decided notes what the file says.
func (seen *Replayed) decided(decision countersign.Decision, err error, asked *countersign.Authorization) {
	seen.After, seen.Rules = OutcomeAllowed, decision.Rules
	switch {
	case err != nil:
		seen.After, seen.Refusal = OutcomeDenied, err.Error()
		return
	case len(decision.Hazards) < len(asked.Hazards):
		seen.After, seen.Refusal = OutcomeDenied, "no rule that covers it lists its hazard "+notIn(asked, &decision)
		return
	case missingAny(&decision, asked):
		seen.After = OutcomeApprovals
	}
	alone := *asked
	alone.Votes = asked.Votes[:min(1, len(asked.Votes))]
	if missingAny(&decision, &alone) {
		seen.Votes.After = places(decision.Approvals)
	}
}

// notIn names a hazard that a decision does not allow.
func notIn(asked *countersign.Authorization, decision *countersign.Decision) string {
	for i := range asked.Hazards {
		name := asked.Hazards[i].Name
		if !slices.ContainsFunc(decision.Hazards, func(allowed chains.Hazard) bool { return allowed.Name == name }) {
			return name
		}
	}
	return asked.Hazards[0].Name
}

// compare says what is different from what happened.
func (seen *Replayed) compare(record *activity.Record, decision countersign.Decision) {
	if seen.Before != seen.After {
		seen.Changes = append(seen.Changes, seen.Before+" → "+seen.After)
	}
	if seen.After == OutcomeDenied {
		return
	}
	if votes := seen.Votes; votes.Before != votes.After {
		seen.Changes = append(seen.Changes, fmt.Sprintf("votes demanded: %d → %d", votes.Before, votes.After))
	}
	if seen.Before != OutcomeAllowed || seen.After != OutcomeAllowed {
		return
	}
	before, after := recordedCharges(record.Decision.Charges), decidedCharges(decision.Charges)
	if !slices.Equal(before, after) {
		seen.Changes = append(seen.Changes, "limits: "+listOr(before)+" → "+listOr(after))
	}
}

func listOr(charges []string) string {
	if len(charges) == 0 {
		return "none"
	}
	return strings.Join(charges, ", ")
}

func recordedCharges(charges []activity.Charge) []string {
	texts := make([]string, len(charges))
	for i := range charges {
		texts[i] = fmt.Sprintf("%s %v of %v in %v", charges[i].Limit, charges[i].Amount, charges[i].Max, charges[i].Window)
	}
	slices.Sort(texts)
	return texts
}

func decidedCharges(charges []store.Charge) []string {
	recorded := make([]activity.Charge, len(charges))
	for i, charge := range charges {
		recorded[i] = activity.Charge{Limit: charge.Limit, Amount: charge.Amount, Max: charge.Max, Window: charge.Window}
	}
	return recordedCharges(recorded)
}

// charged describes charges, with what their limits have counted.
func (r *Replay) charged(ctx context.Context, asked *countersign.Authorization, charges []store.Charge) ([]ReplayedLimit, error) {
	described := make([]ReplayedLimit, len(charges))
	for i, charge := range charges {
		sum, _, err := asked.Spent.Spent(ctx, organizationID(asked), charge.Limit, charge.Subject, charge.Window)
		if err != nil {
			return nil, err
		}
		decimals := r.file.limits[charge.Limit].asset.decimals
		described[i] = ReplayedLimit{charge.Limit, charge.Subject, unitsText(charge.Amount, decimals), unitsText(sum, decimals), unitsText(charge.Max, decimals)}
	}
	return described, nil
}

// outcomeOf is what became of an activity.
func outcomeOf(record *activity.Record) string {
	switch record.Status {
	case activity.StatusCompleted:
		return OutcomeAllowed
	case activity.StatusRejected:
		return OutcomeRejected
	case activity.StatusFailed:
		return OutcomeFailed
	}
	return OutcomeApprovals
}

// demanded is how many votes the policy of that time demanded.
func demanded(record *activity.Record) int {
	sum := 0
	for i := range record.Decision.Required {
		sum += record.Decision.Required[i].Count
	}
	return sum
}

// replayedSpent reads the ledger of a replay at a time of the past.
type replayedSpent struct {
	ledger *memory.Store
	now    time.Time
}

// Spent implements countersign.SpentReader.
func (s replayedSpent) Spent(ctx context.Context, organizationID, limit, subject string, window time.Duration) (sum *big.Int, frees time.Time, err error) {
	charge := store.Charge{Limit: limit, Subject: subject, Window: window}
	err = s.ledger.Change(ctx, organizationID, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		sum, frees, err = store.Spent(ledger, charge, s.now)
		return nil, err
	}))
	return sum, frees, err
}
