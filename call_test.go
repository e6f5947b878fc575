package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/postgres"
	"github.com/countersign-dev/countersign/verify"
)

// twoADay judges calls by a limit of two a day.
func twoADay(config *countersign.Config) { config.Policy = new(daily) }

func payout() activity.SignTransactionIntent {
	return activity.SignTransactionIntent{SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: activity.TransactionTypeEthereum}
}

// nthPayout returns a payout with a nonce of its own.
func nthPayout(nth int) activity.SignTransactionIntent {
	intent := payout()
	intent.UnsignedTransaction = strings.Replace(intent.UnsignedTransaction, "02e80107", fmt.Sprintf("02e801%02x", nth+1), 1)
	return intent
}

// calls are the calls of an engine or of a caller.
type calls interface {
	Prepare(ctx context.Context, organizationID string, intent activity.Intent) (*countersign.Prepared, error)
	Sign(ctx context.Context, organizationID string, intent activity.Intent) (activity.Result, error)
	SignTransaction(ctx context.Context, organizationID string, intent activity.SignTransactionIntent) (activity.SignTransactionResult, error)
	SignMessage(ctx context.Context, organizationID string, intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error)
}

// callsOf returns the ways to sign without a stamp. Each has an nth thing to sign.
func callsOf(e calls, nth int) map[string]func(context.Context) error {
	message := engines.Payload(string(personal.Preimage(personal.EthereumPrefix, fmt.Appendf(nil, "Decentral Games Login\nTimestamp: %d", nth))), activity.EncodingText, activity.HashKeccak256)
	several := activity.SignRawPayloadsIntent{SignWith: message.SignWith, Encoding: message.Encoding, HashFunction: message.HashFunction, Payloads: []string{message.Payload, message.Payload}}
	prepare := func(intent activity.Intent) func(context.Context) error {
		return func(ctx context.Context) error {
			prepared, err := e.Prepare(ctx, enginetest.Organization, intent)
			if err == nil {
				_, err = prepared.Sign(ctx)
			}
			return err
		}
	}
	return map[string]func(context.Context) error{
		"SignTransaction": func(ctx context.Context) error {
			_, err := e.SignTransaction(ctx, enginetest.Organization, nthPayout(nth))
			return err
		},
		"PrepareTransaction": prepare(nthPayout(nth)),
		"PrepareMessages":    prepare(several),
		"SignMessage": func(ctx context.Context) error {
			_, err := e.SignMessage(ctx, enginetest.Organization, message)
			return err
		},
		"SignMessages": func(ctx context.Context) error {
			_, err := e.Sign(ctx, enginetest.Organization, several)
			return err
		},
	}
}

// onEachStore runs a test with each store that two nodes can share.
func onEachStore(t *testing.T, test func(t *testing.T, open func() store.Full)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		shared := memory.New(0)
		test(t, func() store.Full { return shared })
	})
	t.Run("bolt", func(t *testing.T) {
		shared, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"))
		testenv.Must(t, err)
		test(t, func() store.Full { return shared })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := testenv.Postgres(t).DSN
		test(t, func() store.Full {
			opened, err := postgres.Open(t.Context(), dsn)
			testenv.Must(t, err)
			return opened
		})
	})
}

// TestCallCharges checks that each way to sign without a stamp is charged once, refused
// when the limit is exhausted, and refunded when the key fails.
func TestCallCharges(t *testing.T) {
	for name := range callsOf(nil, 0) {
		t.Run(name, func(t *testing.T) {
			f := enginetest.New(t, twoADay)
			sign := func(ctx context.Context, nth int) error {
				return callsOf(f.Engine.As(engines.Machine, ""), nth)[name](ctx)
			}
			away := true
			f.Signing.Before = func(context.Context) error {
				if away {
					return errors.New("the token is away")
				}
				return nil
			}
			for nth := range 5 {
				if err := sign(t.Context(), nth%2); err == nil {
					t.Fatal("signed without a key")
				}
			}
			away = false
			for nth := range 2 {
				testenv.Must(t, sign(t.Context(), nth))
			}
			before := f.Signing.Signatures.Load()
			enginetest.Refusal(t, sign(t.Context(), 2), activity.ReasonLimitExceeded, "1 is over the 0 left of 2 in 24h0m0s")
			if f.Signing.Signatures.Load() != before {
				t.Error("signed over the limit")
			}
			f.Clock.Advance(24 * time.Hour)
			if err := sign(t.Context(), 2); err != nil {
				t.Errorf("a day later: %v", err)
			}
		})
	}
}

// TestCallRecord checks that the record of a call has the scheme LOCAL, the submitter,
// the rule's charge, and no signature.
func TestCallRecord(t *testing.T) {
	f := enginetest.New(t, twoADay, func(config *countersign.Config) { config.Store = memory.New(0) })
	if _, err := f.Engine.As(engines.Machine, "").SignTransaction(t.Context(), enginetest.Organization, payout()); err != nil {
		t.Fatal(err)
	}
	record := onlyRecord(t, f.Config.Store)
	vote := record.Submitter()
	if vote.Scheme != activity.SchemeLocal || vote.UserID != engines.Machine.ID || vote.Signature != "" || vote.Credential != "" {
		t.Errorf("the vote is %+v", vote)
	}
	if record.Status != activity.StatusCompleted || record.Result != (activity.SignTransactionResult{SignedTransaction: enginetest.Signed}) {
		t.Errorf("recorded %s, %+v", record.Status, record.Result)
	}
	if charges := record.Decision.Charges; len(charges) != 1 || charges[0].Limit != "daily" || charges[0].Subject != engines.Machine.ID {
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
	for name := range callsOf(nil, 0) {
		t.Run(name, func(t *testing.T) {
			f := enginetest.New(t, func(config *countersign.Config) { config.Store = memory.New(0) })
			testenv.Must(t, callsOf(f.Engine.As(engines.Machine, ""), 0)[name](t.Context()))
			record := onlyRecord(t, f.Config.Store)
			if vote := record.Submitter(); vote.Scheme != activity.SchemeLocal || vote.UserID != engines.Machine.ID {
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
	testenv.Must(t, err)
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
	f := enginetest.New(t, twoADay, func(config *countersign.Config) { config.Store = &lossy{Full: memory.New(0)} })
	prepared, err := f.Engine.As(engines.Machine, "").Prepare(t.Context(), enginetest.Organization, payout())
	testenv.Must(t, err)
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
	as := f.Engine.As(engines.Machine, "")
	if _, err := as.SignTransaction(t.Context(), enginetest.Organization, nthPayout(1)); err != nil {
		t.Errorf("the second of two: %v", err)
	}
	_, err = as.SignTransaction(t.Context(), enginetest.Organization, nthPayout(2))
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
	_, err = as.Prepare(t.Context(), enginetest.Organization, nthPayout(2))
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
}

// TestConcurrentCalls checks that 64 calls on two nodes whose clocks show the same
// millisecond, for 16 transactions, are 16 calls, of which two are signed and recorded.
// Each of the calls for those two is answered.
func TestConcurrentCalls(t *testing.T) {
	onEachStore(t, func(t *testing.T, open func() store.Full) {
		f := enginetest.New(t, twoADay, func(config *countersign.Config) { config.Store = open() })
		first := f.Config.Store.(store.Full)
		f.Config.Store = open()
		nodes := []*countersign.Engine{f.Engine, f.Second(t)}
		var signed atomic.Int64
		var group sync.WaitGroup
		for i := range 64 {
			group.Go(func() {
				_, err := nodes[i%2].As(engines.Machine, "").SignTransaction(t.Context(), enginetest.Organization, nthPayout(i/4))
				if err == nil {
					signed.Add(1)
					return
				}
				enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
			})
		}
		group.Wait()
		recorded, err := first.List(t.Context(), enginetest.Organization, store.Filter{Limit: 10})
		count := len(recorded)
		if err != nil || count != 2 || signed.Load() != 8 || f.Signing.Signatures.Load() != 2 {
			t.Errorf("%d answers, %d signatures, %d records, %v", signed.Load(), f.Signing.Signatures.Load(), count, err)
		}
	})
}

// TestSameCallAgain checks that a call is answered from its record, on each node, whatever
// the limit says by then, and charged once; that another user's is another call; and that it
// is a new call when its record is forgotten.
func TestSameCallAgain(t *testing.T) {
	onEachStore(t, func(t *testing.T, open func() store.Full) {
		f := enginetest.New(t, twoADay, func(config *countersign.Config) { config.Store = open() })
		first := f.Config.Store.(store.Full)
		f.Config.Store = open()
		nodes := []*countersign.Engine{f.Engine, f.Second(t)}
		for i := range 6 {
			result, err := nodes[i%2].As(engines.Machine, "").SignTransaction(t.Context(), enginetest.Organization, payout())
			if err != nil || result.SignedTransaction != enginetest.Signed {
				t.Fatalf("%+v, %v", result, err)
			}
			f.Clock.Advance(5 * time.Minute)
		}
		f.WantSignatures(t, 1)
		for _, caller := range []*countersign.Caller{nodes[0].As(access.User{ID: "other"}, ""), nodes[1].As(engines.Machine, "CERTIFICATE dns:a.example")} { // the second is answered
			if _, err := caller.SignTransaction(t.Context(), enginetest.Organization, payout()); err != nil {
				t.Fatal(err)
			}
		}
		f.WantSignatures(t, 2)
		f.Clock.Advance(countersign.MaxRequestWindow)
		if _, err := first.Sweep(t.Context(), f.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		_, err := nodes[0].As(engines.Machine, "").SignTransaction(t.Context(), enginetest.Organization, payout())
		testenv.Must(t, err)
		if first.Forgets() {
			f.WantSignatures(t, 3)
		} else {
			f.WantSignatures(t, 2)
		}
	})
}

// TestCallAfterStaleBody checks that a call whose body was never recorded, since its key was
// away, is made with a new body when that one is no longer live.
func TestCallAfterStaleBody(t *testing.T) {
	f := enginetest.New(t, twoADay, func(config *countersign.Config) { config.Store = memory.New(0) })
	f.Signing.Before = func(context.Context) error { return keystore.ErrUnavailable }
	caller := f.Engine.As(engines.Machine, "")
	_, err := caller.SignTransaction(t.Context(), enginetest.Organization, payout())
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "")
	f.Signing.Before = nil
	f.Clock.Advance(24 * time.Hour)
	if _, err := caller.SignTransaction(t.Context(), enginetest.Organization, payout()); err != nil {
		t.Fatal(err)
	}
	record := onlyRecord(t, f.Config.Store)
	if !record.Request.Time().Equal(f.Clock.Now()) {
		t.Errorf("the body is of %v, the time is %v", record.Request.Time(), f.Clock.Now())
	}
	if record.Request.Submitter != (activity.Submitter{}) {
		t.Error("a stored record is decoded with the submitter") // the body has it, see below
	}
	decoded, err := activity.Decode(record.Request.Body)
	if err != nil || decoded.Submitter != (activity.Submitter{UserID: engines.Machine.ID, Scheme: activity.SchemeLocal}) {
		t.Errorf("the body names %+v, %v", decoded.Submitter, err)
	}
}

// TestCallerIsNotStamped checks that a program cannot pass its own authentication off as a
// stamp, and that a body which names a submitter cannot be sent with a stamp.
func TestCallerIsNotStamped(t *testing.T) {
	f := enginetest.New(t)
	for _, test := range []struct {
		user   access.User
		scheme string
	}{{engines.Machine, "SIGNATURE_SCHEME_TK_API_P256"}, {engines.Machine, "JWT\n"}, {engines.Machine, strings.Repeat("x", 301)}, {access.User{Name: "ci"}, ""}} {
		_, err := f.Engine.As(test.user, test.scheme).SignTransaction(t.Context(), enginetest.Organization, payout())
		enginetest.Refusal(t, err, activity.ReasonInternal, "")
	}
	written, err := activity.NewRequest(activity.Envelope{
		OrganizationID: enginetest.Organization, Time: f.Clock.Now(), Submitter: activity.Submitter{UserID: "user-1", Scheme: "LOCAL"},
	}, payout())
	testenv.Must(t, err)
	_, err = f.Engine.Submit(t.Context(), f.APIKey.Sign(string(written.Body)))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "submitter: only the body of a call")
	f.WantSignatures(t, 0)
}

// TestCallsWithoutStore checks that an engine without a directory counts limits in the
// store it is given, and refuses a call that must be charged if there is none.
func TestCallsWithoutStore(t *testing.T) {
	f := enginetest.New(t)
	alone := func(opened store.Store) *countersign.Engine {
		engine, err := countersign.New(countersign.Config{
			Chains:   all.Chains(all.Limits{}),
			Keystore: staysOpen{keystore.Keystore(f.Signing)}, Policy: new(daily), Store: opened, Now: f.Clock.Now,
		})
		testenv.Must(t, err)
		t.Cleanup(func() { _ = engine.Close() })
		return engine
	}
	_, err := alone(nil).As(engines.Machine, "").SignTransaction(t.Context(), enginetest.Organization, payout())
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "set Config.Store")
	engine := alone(memory.New(0)).As(engines.Machine, "")
	for nth := range 2 {
		if _, err := engine.SignTransaction(t.Context(), enginetest.Organization, nthPayout(nth)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = engine.SignTransaction(t.Context(), enginetest.Organization, nthPayout(2))
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
	f.Clock.Advance(2 * countersign.SweepInterval)
	_, err = engine.SignTransaction(t.Context(), enginetest.Organization, nthPayout(3))
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
			Keystore: f.Signing, Store: opened, Now: f.Clock.Now,
			Policy: access.PolicyFunc(func(context.Context, access.Authorization) error {
				if denies.Load() {
					return access.ErrDenied
				}
				return nil
			}),
		})
		testenv.Must(t, err)
		prepared, err := engine.As(engines.Machine, "").Prepare(t.Context(), enginetest.Organization, payout())
		testenv.Must(t, err)
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
