package approvals_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// ofOne returns a charge to a limit that has room for one a day.
func ofOne() store.Charge {
	return store.Charge{Limit: "payouts-day", Subject: "all", Amount: big.NewInt(1), Max: big.NewInt(1), Window: 24 * time.Hour}
}

// newLimitedBallot returns a ballot whose transactions are charged to a limit that has
// room for one.
func newLimitedBallot(t testing.TB, changes ...func(*countersign.Config)) *ballot.Ballot {
	t.Helper()
	b := ballot.New(t, changes...)
	b.Policy.Set(func(p *ballot.Policy) { p.Charges = []store.Charge{ofOne()} })
	return b
}

// wantSpent checks how much the limit has counted.
func wantSpent(b *ballot.Ballot, want int64) {
	b.T.Helper()
	err := b.Config.Store.Change(b.T.Context(), enginetest.Organization, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
		sum, _, err := store.Spent(ledger, b.Policy.Charges[0], b.Clock.Now())
		if err == nil && sum.Cmp(big.NewInt(want)) != 0 {
			b.T.Errorf("%s are counted, want %d", sum, want)
		}
		return nil, err
	}))
	testenv.Must(b.T, err)
}

// TestLimitChargedAtLastVote checks that waiting is not charged. If two activities have
// their votes and the limit has room for one, one is signed; the other keeps waiting
// with the reason, and is signed once the limit has room again.
func TestLimitChargedAtLastVote(t *testing.T) {
	b := newLimitedBallot(t, withSharedMemory)
	first := b.Waiting()
	b.Clock.Advance(time.Millisecond)
	second := b.Waiting()
	b.Approve(b.Ann, first)
	b.Approve(b.Ann, second)
	wantSpent(b, 0)
	b.Is(b.Approve(b.Ben, first), activity.StatusCompleted)
	wantSpent(b, 1)
	late := b.Approve(b.Ben, second)
	if late.Status != activity.StatusConsensusNeeded || late.Decision.Reason == "" || len(late.Votes) != 3 {
		t.Fatalf("over the limit it is %s, for %q, with %d votes", late.Status, late.Decision.Reason, len(late.Votes))
	}
	for range 3 { // votes that come again, and the sweep, charge nothing
		b.Approve(b.Ben, first)
		b.Approve(b.Ben, second)
		b.Resume()
	}
	wantSpent(b, 1)
	b.WantSignatures(b.T, 1)
	b.Clock.Advance(24*time.Hour + time.Second)
	b.Approve(b.Ann, second) // the first has aged
	b.Is(b.Approve(b.Ben, second), activity.StatusCompleted)
	wantSpent(b, 1)
	b.WantSignatures(b.T, 2)
}

// withSharedMemory sets a store that the test can look into.
func withSharedMemory(config *countersign.Config) { config.Store = memory.New(0) }

// TestKeystoreUnavailableAtLastVote checks that votes are kept and nothing is charged
// while the keystore is unavailable, and that a sweep or a repeated vote continues once
// it is back.
func TestKeystoreUnavailableAtLastVote(t *testing.T) {
	goOn := map[string]func(b *ballot.Ballot, on *activity.Record){
		"sweep":    func(b *ballot.Ballot, _ *activity.Record) { b.Resume() },
		"the vote": func(b *ballot.Ballot, on *activity.Record) { b.Approve(b.Ann, on) },
	}
	for name, again := range goOn {
		t.Run(name, func(t *testing.T) {
			b := newLimitedBallot(t, withSharedMemory)
			waiting := b.Waiting()
			b.Approve(b.Ann, waiting)
			b.Signing.Before = func(context.Context) error {
				return errors.Join(keystore.ErrUnavailable, errors.New("the token was pulled out"))
			}
			last := b.Approve(b.Ben, waiting)
			b.Is(last, activity.StatusConsensusNeeded)
			if last.Decision.Reason == "" || len(last.Votes) != 3 {
				t.Errorf("it waits for %q with %d votes", last.Decision.Reason, len(last.Votes))
			}
			wantSpent(b, 0)
			again(b, waiting)
			b.Is(b.Again(waiting), activity.StatusConsensusNeeded)
			b.Signing.Before = nil
			again(b, waiting)
			b.Is(b.Again(waiting), activity.StatusCompleted)
			wantSpent(b, 1)
			b.WantSignatures(b.T, 1)
		})
	}
}

// TestLeaseLostWhileSigning lets another node overtake one that is blocked while
// signing. The late signature is not recorded, its voter gets the other node's result,
// and the limit is charged once.
func TestLeaseLostWhileSigning(t *testing.T) {
	b := newLimitedBallot(t, withSharedMemory)
	other := b.Second(t)
	waiting := b.Waiting()
	b.Approve(b.Ann, waiting)
	overtaken := false
	b.Signing.Before = func(context.Context) error {
		if overtaken {
			return nil
		}
		overtaken = true
		b.Clock.Advance(countersign.DefaultLeaseTTL + time.Second)
		return other.Operator().ResumeWaiting(t.Context())
	}
	last := b.Approve(b.Ben, waiting)
	b.Is(last, activity.StatusCompleted)
	if !overtaken || len(last.Votes) != 3 {
		t.Errorf("overtaken: %v; %d votes", overtaken, len(last.Votes))
	}
	if found := b.Again(waiting); string(found.AppendAnswer(nil)) == "" || found.UpdatedAt != last.UpdatedAt {
		t.Errorf("answered %v, and afterwards %v", last.UpdatedAt, found.UpdatedAt)
	}
	wantSpent(b, 1)
}
