package countersign_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// ofOne is a charge of a limit that has room for one a day.
func ofOne() store.Charge {
	return store.Charge{Limit: "payouts-day", Subject: "all", Amount: big.NewInt(1), Max: big.NewInt(1), Window: 24 * time.Hour}
}

// newLimitedBallot is a ballot whose transactions are charged to a limit for one.
func newLimitedBallot(t testing.TB, changes ...func(*countersign.Config)) *ballot {
	t.Helper()
	b := newBallot(t, changes...)
	b.policy.set(func(p *approvers) { p.charges = []store.Charge{ofOne()} })
	return b
}

// spends expects what is counted of the limit.
func (b *ballot) spends(want int64) {
	b.t.Helper()
	err := b.Config.Store.Change(b.t.Context(), enginetest.Organization, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
		sum, _, err := store.Spent(ledger, b.policy.charges[0], b.Clock.Now())
		if err == nil && sum.Cmp(big.NewInt(want)) != 0 {
			b.t.Errorf("%s are counted, want %d", sum, want)
		}
		return nil, err
	}))
	if err != nil {
		b.t.Fatal(err)
	}
}

// found asks for an activity by its submitter's body.
func (b *ballot) found(on *activity.Record) *activity.Record {
	b.t.Helper()
	record, err := b.Engine.Submit(b.t.Context(), b.APIKey.Sign(string(on.Request.Body)))
	if err != nil {
		b.t.Fatal(err)
	}
	return record
}

// TestLimitIsChargedAtTheLastVote: waiting costs nothing. Of two that have their
// votes, a limit for one lets one be signed; the other goes on waiting with the
// reason, and is signed when the limit has room again.
func TestLimitIsChargedAtTheLastVote(t *testing.T) {
	b := newLimitedBallot(t, withSharedMemory)
	first := b.submit()
	b.Clock.Advance(time.Millisecond)
	second := b.submit()
	b.approve(b.ann, first)
	b.approve(b.ann, second)
	b.spends(0)
	b.is(b.approve(b.ben, first), activity.StatusCompleted)
	b.spends(1)
	late := b.approve(b.ben, second)
	if late.Status != activity.StatusConsensusNeeded || late.Decision.Reason == "" || len(late.Votes) != 3 {
		t.Fatalf("over the limit it is %s, for %q, with %d votes", late.Status, late.Decision.Reason, len(late.Votes))
	}
	for range 3 { // votes that come again, and the sweep, charge nothing
		b.approve(b.ben, first)
		b.approve(b.ben, second)
		b.resumes()
	}
	b.spends(1)
	b.signed(1)
	b.Clock.Advance(24*time.Hour + time.Second)
	b.approve(b.ann, second) // the first has aged
	b.is(b.approve(b.ben, second), activity.StatusCompleted)
	b.spends(1)
	b.signed(2)
}

// withSharedMemory is a store that is there for tests to look into.
func withSharedMemory(config *countersign.Config) { config.Store = memory.New(0) }

func (b *ballot) resumes() {
	b.t.Helper()
	if err := b.Engine.ResumeWaiting(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *ballot) signed(want int64) {
	b.t.Helper()
	if got := b.Signing.Signatures.Load(); got != want {
		b.t.Fatalf("%d signatures, want %d", got, want)
	}
}

// TestKeystoreAwayAtTheLastVote: the votes stay, nothing is charged, and once the
// keystore is back a sweep, or any counted vote again, goes on.
func TestKeystoreAwayAtTheLastVote(t *testing.T) {
	goOn := map[string]func(b *ballot, on *activity.Record){
		"sweep":    func(b *ballot, _ *activity.Record) { b.resumes() },
		"the vote": func(b *ballot, on *activity.Record) { b.approve(b.ann, on) },
	}
	for name, again := range goOn {
		t.Run(name, func(t *testing.T) {
			b := newLimitedBallot(t, withSharedMemory)
			waiting := b.submit()
			b.approve(b.ann, waiting)
			b.Signing.Before = func(context.Context) error {
				return errors.Join(keystore.ErrUnavailable, errors.New("the token was pulled out"))
			}
			last := b.approve(b.ben, waiting)
			b.is(last, activity.StatusConsensusNeeded)
			if last.Decision.Reason == "" || len(last.Votes) != 3 {
				t.Errorf("it waits for %q with %d votes", last.Decision.Reason, len(last.Votes))
			}
			b.spends(0)
			again(b, waiting)
			b.is(b.found(waiting), activity.StatusConsensusNeeded)
			b.Signing.Before = nil
			again(b, waiting)
			b.is(b.found(waiting), activity.StatusCompleted)
			b.spends(1)
			b.signed(1)
		})
	}
}

// TestLeaseLostWhileCarryingOut: a node that stands still in the middle of its
// signature is overtaken by another. What it comes back with is not recorded, its
// voter is answered what the other has done, and the limit is charged once.
func TestLeaseLostWhileCarryingOut(t *testing.T) {
	b := newLimitedBallot(t, withSharedMemory)
	other := b.Second(t)
	waiting := b.submit()
	b.approve(b.ann, waiting)
	overtaken := false
	b.Signing.Before = func(context.Context) error {
		if overtaken {
			return nil
		}
		overtaken = true
		b.Clock.Advance(countersign.DefaultLeaseTTL + time.Second)
		return other.ResumeWaiting(t.Context())
	}
	last := b.approve(b.ben, waiting)
	b.is(last, activity.StatusCompleted)
	if !overtaken || len(last.Votes) != 3 {
		t.Errorf("overtaken: %v; %d votes", overtaken, len(last.Votes))
	}
	if found := b.found(waiting); string(found.AppendAnswer(nil)) == "" || found.UpdatedAt != last.UpdatedAt {
		t.Errorf("answered %v, and afterwards %v", last.UpdatedAt, found.UpdatedAt)
	}
	b.spends(1)
}
