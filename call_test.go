package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/postgres"
	"github.com/countersign-dev/countersign/verify"
)

// machine is the user that calls are attributed to.
var machine = access.User{ID: "machine", Name: "machine"}

// asMachine attributes calls without a stamp to machine, with a limit of two a day.
func asMachine(config *countersign.Config) { config.Policy, config.Submitter = new(daily), &machine }

func payout() activity.SignTransactionIntent {
	return activity.SignTransactionIntent{SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: activity.TransactionTypeEthereum}
}

// callsOf returns the ways to sign without a stamp.
func callsOf(e *countersign.Engine) map[string]func(context.Context) error {
	message := payload(greeting, activity.EncodingText, activity.HashKeccak256)
	several := activity.SignRawPayloadsIntent{SignWith: message.SignWith, Encoding: message.Encoding, HashFunction: message.HashFunction, Payloads: []string{greeting, greeting}}
	return map[string]func(context.Context) error{
		"SignTransaction": func(ctx context.Context) error {
			_, err := e.SignTransaction(ctx, enginetest.Organization, payout())
			return err
		},
		"PrepareTransaction": func(ctx context.Context) error {
			prepared, err := e.Prepare(ctx, enginetest.Organization, payout())
			if err == nil {
				_, err = prepared.Sign(ctx)
			}
			return err
		},
		"SignMessage": func(ctx context.Context) error {
			_, err := e.SignMessage(ctx, enginetest.Organization, message)
			return err
		},
		"SignMessages": func(ctx context.Context) error {
			_, err := e.Sign(ctx, enginetest.Organization, several)
			return err
		},
		"PrepareMessages": func(ctx context.Context) error {
			prepared, err := e.Prepare(ctx, enginetest.Organization, several)
			if err == nil {
				_, err = prepared.Sign(ctx)
			}
			return err
		},
	}
}

// onEachStore runs a test with each store that two nodes can share.
func onEachStore(t *testing.T, test func(t *testing.T, open func() store.Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		shared := memory.New(0)
		test(t, func() store.Store { return shared })
	})
	t.Run("bolt", func(t *testing.T) {
		shared, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		test(t, func() store.Store { return shared })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := testenv.Postgres(t).DSN
		test(t, func() store.Store {
			opened, err := postgres.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			return opened
		})
	})
}

// TestCallCharges checks that each way to sign without a stamp is charged once, refused
// when the limit is exhausted, and refunded when the key fails.
func TestCallCharges(t *testing.T) {
	for name := range callsOf(nil) {
		t.Run(name, func(t *testing.T) {
			f := enginetest.New(t, asMachine)
			sign := callsOf(f.Engine)[name]
			away := true
			f.Signing.Before = func(context.Context) error {
				if away {
					return errors.New("the token is away")
				}
				return nil
			}
			for range 5 {
				if err := sign(t.Context()); err == nil {
					t.Fatal("signed without a key")
				}
			}
			away = false
			for range 2 {
				if err := sign(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			before := f.Signing.Signatures.Load()
			enginetest.Refusal(t, sign(t.Context()), activity.ReasonLimitExceeded, "1 is over the 0 left of 2 in 24h0m0s")
			if f.Signing.Signatures.Load() != before {
				t.Error("signed over the limit")
			}
			f.Clock.Advance(24 * time.Hour)
			if err := sign(t.Context()); err != nil {
				t.Errorf("a day later: %v", err)
			}
		})
	}
}

// TestCallRecord checks that the record of a call has the scheme LOCAL, the submitter,
// the rule's charge, and no signature.
func TestCallRecord(t *testing.T) {
	f := enginetest.New(t, asMachine, func(config *countersign.Config) { config.Store = memory.New(0) })
	if _, err := f.Engine.SignTransaction(t.Context(), enginetest.Organization, payout()); err != nil {
		t.Fatal(err)
	}
	record := onlyRecord(t, f.Config.Store)
	vote := record.Submitter()
	if vote.Scheme != activity.SchemeLocal || vote.UserID != machine.ID || vote.Signature != "" || vote.Credential != "" {
		t.Errorf("the vote is %+v", vote)
	}
	if record.Status != activity.StatusCompleted || record.Result != (activity.SignTransactionResult{SignedTransaction: enginetest.Signed}) {
		t.Errorf("recorded %s, %+v", record.Status, record.Result)
	}
	if charges := record.Decision.Charges; len(charges) != 1 || charges[0].Limit != "daily" || charges[0].Subject != machine.ID {
		t.Errorf("charged %+v", charges)
	}
	if !strings.Contains(string(record.AppendAnswer(nil)), `"LOCAL"`) {
		t.Error("the answer does not say LOCAL")
	}
	if _, err := verify.Votes(record, nil); !errors.Is(err, verify.ErrVotes) {
		t.Errorf("a call is taken for evidence: %v", err)
	}
}

// TestCallRecordWithoutPolicy checks that calls are recorded if there are a submitter
// and a store.
func TestCallRecordWithoutPolicy(t *testing.T) {
	for name := range callsOf(nil) {
		t.Run(name, func(t *testing.T) {
			f := enginetest.New(t, func(config *countersign.Config) { config.Submitter, config.Store = &machine, memory.New(0) })
			if err := callsOf(f.Engine)[name](t.Context()); err != nil {
				t.Fatal(err)
			}
			record := onlyRecord(t, f.Config.Store)
			if vote := record.Submitter(); vote.Scheme != activity.SchemeLocal || vote.UserID != machine.ID {
				t.Errorf("the vote is %+v", vote)
			}
			if record.Status != activity.StatusCompleted || len(record.Decision.Rules) != 0 {
				t.Errorf("recorded %s, %+v", record.Status, record.Decision)
			}
		})
	}
}

// onlyRecord returns the one activity of the fixture's organization.
func onlyRecord(t *testing.T, opened store.Store) *activity.Record {
	t.Helper()
	all, err := opened.(store.Lister).List(t.Context(), enginetest.Organization, store.Filter{Limit: 10})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d activities, %v", len(all), err)
	}
	record, err := activity.DecodeRecord(all[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// lossy is a store whose first Complete writes and then loses the answer.
type lossy struct {
	store.Full
	lost atomic.Bool
}

func (l *lossy) Complete(ctx context.Context, lease store.Lease, done store.Activity, change store.Change) error {
	err := l.Full.Complete(ctx, lease, done, change)
	if err == nil && l.lost.CompareAndSwap(false, true) {
		return store.ErrUnavailable
	}
	return err
}

// TestRepeatedSignChargedOnce checks that calling Sign again on the same prepared
// transaction, after the store's answer was lost and after that, returns the recorded
// result.
func TestRepeatedSignChargedOnce(t *testing.T) {
	f := enginetest.New(t, asMachine, func(config *countersign.Config) { config.Store = &lossy{Full: memory.New(0)} })
	prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, payout())
	if err != nil {
		t.Fatal(err)
	}
	if result, err := prepared.Sign(t.Context()); err == nil {
		t.Fatalf("signed %+v without a record", result)
	}
	for range 3 {
		result, err := prepared.Sign(t.Context())
		if err != nil || result.(activity.SignTransactionResult).SignedTransaction != enginetest.Signed {
			t.Fatalf("%+v, %v", result, err)
		}
	}
	f.WantSignatures(t, 1)
	if _, err := f.Engine.SignTransaction(t.Context(), enginetest.Organization, payout()); err != nil {
		t.Errorf("the second of two: %v", err)
	}
	_, err = f.Engine.SignTransaction(t.Context(), enginetest.Organization, payout())
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
	_, err = f.Engine.Prepare(t.Context(), enginetest.Organization, payout())
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
}

// TestConcurrentCalls checks that 64 calls with the same bytes on two nodes whose clocks
// show the same millisecond are 64 calls, of which two are signed and recorded.
func TestConcurrentCalls(t *testing.T) {
	onEachStore(t, func(t *testing.T, open func() store.Store) {
		f := enginetest.New(t, asMachine, func(config *countersign.Config) { config.Store = open() })
		first := f.Config.Store
		f.Config.Store = open()
		nodes := []*countersign.Engine{f.Engine, f.Second(t)}
		var signed atomic.Int64
		var group sync.WaitGroup
		for i := range 64 {
			group.Go(func() {
				_, err := nodes[i%2].SignTransaction(t.Context(), enginetest.Organization, payout())
				if err == nil {
					signed.Add(1)
					return
				}
				enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
			})
		}
		group.Wait()
		recorded, err := first.(store.Lister).List(t.Context(), enginetest.Organization, store.Filter{Limit: 10})
		count := len(recorded)
		if err != nil || count != 2 || signed.Load() != 2 || f.Signing.Signatures.Load() != 2 {
			t.Errorf("%d answers, %d signatures, %d records, %v", signed.Load(), f.Signing.Signatures.Load(), count, err)
		}
	})
}

// TestTimesOfCalls checks that calls for different things have the time of the clock, however
// many there are in a millisecond, and that calls for the same have times of their own.
func TestTimesOfCalls(t *testing.T) {
	f := enginetest.New(t, func(config *countersign.Config) { config.Submitter, config.Store = &machine, memory.New(0) })
	const each = 3
	var want []time.Duration
	for range each {
		for nonce := range 5 {
			intent := payout()
			intent.UnsignedTransaction = strings.Replace(intent.UnsignedTransaction, "02e80107", fmt.Sprintf("02e801%02x", nonce+1), 1)
			if _, err := f.Engine.SignTransaction(t.Context(), enginetest.Organization, intent); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range each {
		want = append(want, slices.Repeat([]time.Duration{time.Duration(i) * time.Millisecond}, 5)...)
	}
	all, err := f.Config.Store.(store.Lister).List(t.Context(), enginetest.Organization, store.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []time.Duration
	for i := range all {
		record, err := activity.DecodeRecord(all[i].Data)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, record.Request.Time().Sub(f.Clock.Now()))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("after the clock's time: %v, want %v", got, want)
	}
}

// TestCallsWithoutStore checks that an engine without a directory counts limits in the
// store it is given, and refuses a call that must be charged if there is none.
func TestCallsWithoutStore(t *testing.T) {
	f := enginetest.New(t)
	alone := func(opened store.Store) *countersign.Engine {
		engine, err := countersign.New(countersign.Config{
			Chains:   all.Chains(all.Limits{}),
			Keystore: staysOpen{keystore.Keystore(f.Signing)}, Policy: new(daily), Submitter: &machine, Store: opened, Now: f.Clock.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = engine.Close() })
		return engine
	}
	_, err := alone(nil).SignTransaction(t.Context(), enginetest.Organization, payout())
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "set Config.Store")
	engine := alone(memory.New(0))
	for range 2 {
		if _, err := engine.SignTransaction(t.Context(), enginetest.Organization, payout()); err != nil {
			t.Fatal(err)
		}
	}
	_, err = engine.SignTransaction(t.Context(), enginetest.Organization, payout())
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
	f.Clock.Advance(2 * countersign.SweepInterval)
	_, err = engine.SignTransaction(t.Context(), enginetest.Organization, payout())
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
}

// TestSignAsksAgain checks that Sign asks the policy again, with a store and without one:
// what it allowed when a transaction was prepared may be denied by now.
func TestSignAsksAgain(t *testing.T) {
	for _, opened := range []store.Store{nil, memory.New(0)} {
		var denies atomic.Bool
		f := enginetest.New(t)
		engine, err := countersign.New(countersign.Config{
			Chains:   all.Chains(all.Limits{}),
			Keystore: f.Signing, Submitter: &machine, Store: opened, Now: f.Clock.Now,
			Policy: access.PolicyFunc(func(context.Context, access.Authorization) error {
				if denies.Load() {
					return access.ErrDenied
				}
				return nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := engine.Prepare(t.Context(), enginetest.Organization, payout())
		if err != nil {
			t.Fatal(err)
		}
		denies.Store(true)
		_, err = prepared.Sign(t.Context())
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "denied by policy")
		denies.Store(false)
		if _, err := prepared.Sign(t.Context()); err != nil {
			t.Errorf("allowed again: %v", err)
		}
	}
}

// staysOpen is a keystore that outlives its engine.
type staysOpen struct{ keystore.Keystore }

func (staysOpen) Close() error { return nil }
