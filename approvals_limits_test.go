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

// ofOne returns a charge to a limit that has room for one a day.
func ofOne() store.Charge {
	return store.Charge{Limit: "payouts-day", Subject: "all", Amount: big.NewInt(1), Max: big.NewInt(1), Window: 24 * time.Hour}
}

// newLimitedBallot returns a ballot whose transactions are charged to a limit that has
// room for one.
func newLimitedBallot(t testing.TB, changes ...func(*countersign.Config)) *ballot {
	t.Helper()
	b := newBallot(t, changes...)
	b.policy.set(func(p *approvers) { p.charges = []store.Charge{ofOne()} })
	return b
}

// spends checks how much the limit has counted.
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

// found returns an activity by submitting its body again.
func (b *ballot) found(on *activity.Record) *activity.Record {
	b.t.Helper()
	record, err := b.Engine.Submit(b.t.Context(), b.APIKey.Sign(string(on.Request.Body)))
	if err != nil {
		b.t.Fatal(err)
	}
	return record
}

// stored returns the record of an activity in the store.
func (b *ballot) stored(on *activity.Record) *activity.Record {
	b.t.Helper()
	found, err := b.Config.Store.(store.Waiter).Find(b.t.Context(), enginetest.Organization, on.Request.Fingerprint)
	if err != nil {
		b.t.Fatal(err)
	}
	record, err := activity.DecodeRecord(found.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return record
}

// TestLimitChargedAtLastVote checks that waiting is not charged. If two activities have
// their votes and the limit has room for one, one is signed; the other keeps waiting
// with the reason, and is signed once the limit has room again.
func TestLimitChargedAtLastVote(t *testing.T) {
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
		b.resume()
	}
	b.spends(1)
	b.signed(1)
	b.Clock.Advance(24*time.Hour + time.Second)
	b.approve(b.ann, second) // the first has aged
	b.is(b.approve(b.ben, second), activity.StatusCompleted)
	b.spends(1)
	b.signed(2)
}

// withSharedMemory sets a store that the test can look into.
func withSharedMemory(config *countersign.Config) { config.Store = memory.New(0) }

func (b *ballot) resume() {
	b.t.Helper()
	if err := b.Engine.Operator().ResumeWaiting(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *ballot) signed(want int64) {
	b.t.Helper()
	wantSignatures(b.t, b.Fixture, want)
}

// TestKeystoreUnavailableAtLastVote checks that votes are kept and nothing is charged
// while the keystore is unavailable, and that a sweep or a repeated vote continues once
// it is back.
func TestKeystoreUnavailableAtLastVote(t *testing.T) {
	goOn := map[string]func(b *ballot, on *activity.Record){
		"sweep":    func(b *ballot, _ *activity.Record) { b.resume() },
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

// TestLeaseLostWhileSigning lets another node overtake one that is blocked while
// signing. The late signature is not recorded, its voter gets the other node's result,
// and the limit is charged once.
func TestLeaseLostWhileSigning(t *testing.T) {
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
		return other.Operator().ResumeWaiting(t.Context())
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
