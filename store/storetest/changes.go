package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

func runChanges(t *testing.T, h Harness) {
	for name, test := range map[string]func(*bench){
		"begin: the change comes with the lease":        beginChange,
		"begin: a refusal is kept and takes no lease":   beginRefusal,
		"begin: an error writes nothing":                beginError,
		"begin: a refusal gives a run-out lease back":   beginRefusalTakeover,
		"begin: no lease, no change":                    beginNoLease,
		"complete: the change comes with the record":    completeChange,
		"complete: a refusal writes nothing":            completeRefusal,
		"complete: an error writes nothing":             completeError,
		"complete: a lost lease makes no change":        completeLost,
		"release: the change comes with it":             releaseChange,
		"release: a refusal keeps the lease":            releaseRefusal,
		"release: a lost lease makes no change":         releaseLost,
		"alone: a refusal is kept, an error is not":     aloneChange,
		"alone: an error takes all of a change with it": wholeOrNot,
	} {
		t.Run(name, func(t *testing.T) { test(open(t, h)) })
	}
}

var (
	errRefused = errors.New("refused by the test")
	errFailed  = errors.New("failed by the test")
)

var testKey = otpledger.MeterKey{1, 2, 3}

// bump increments a meter, and then ends as requested.
func bump(refusal, err error) store.Change {
	return change(func(ledger otpledger.Ledger) (error, error) {
		if err := bumpMeter(ledger, testKey); err != nil {
			return nil, err
		}
		return refusal, err
	})
}

func bumpMeter(ledger otpledger.Ledger, keys ...otpledger.MeterKey) error {
	meters, err := ledger.Meters(keys...)
	if err != nil {
		return err
	}
	for i, key := range keys {
		meters[i].Sent = append(meters[i].Sent, otpledger.Event{At: epoch.UnixMilli(), By: 7, N: 1})
		meters[i].Until = epoch.Add(time.Hour).UnixMilli()
		if err := ledger.SetMeter(key, meters[i]); err != nil {
			return err
		}
	}
	return nil
}

// bumped checks the count of a meter.
func (b *bench) bumped(want int) {
	b.t.Helper()
	got := b.meter(testKey)
	if len(got.Sent) != want {
		b.t.Fatalf("%d changes were kept; %d were expected", len(got.Sent), want)
	}
}

func (b *bench) meter(key otpledger.MeterKey) (meter otpledger.Meter) {
	b.t.Helper()
	b.do(func(ledger otpledger.Ledger) error {
		meters, err := ledger.Meters(key)
		if err == nil {
			meter = meters[0]
		}
		return err
	})
	return meter
}

func (b *bench) is(err, want error) {
	b.t.Helper()
	if !errors.Is(err, want) {
		b.t.Fatalf("error is %v; %v was expected", err, want)
	}
}

func beginChange(b *bench) {
	begun, err := b.Begin(b.t.Context(), b.claim("a"), bump(nil, nil))
	b.noError(err)
	if begun.Lease == nil {
		b.t.Fatal("no lease")
	}
	b.bumped(1)
}

func beginRefusal(b *bench) {
	begun, err := b.Begin(b.t.Context(), b.claim("a"), bump(errRefused, nil))
	b.is(err, errRefused)
	b.same(true, begun.Lease == nil && begun.Recorded == nil && begun.Wait == nil)
	b.bumped(1)
	b.lease("a")
}

func beginError(b *bench) {
	_, err := b.Begin(b.t.Context(), b.claim("a"), bump(nil, errFailed))
	b.is(err, errFailed)
	b.bumped(0)
	b.lease("a")
}

func beginRefusalTakeover(b *bench) {
	first := b.lease("a")
	b.pass(b.ttl + time.Millisecond)
	_, err := b.Begin(b.t.Context(), b.claim("a"), bump(errRefused, nil))
	b.is(err, errRefused)
	b.lost(first)
	b.lease("a")
}

func beginNoLease(b *bench) {
	b.ttl = time.Minute
	lease := b.lease("a")
	begun, err := b.Begin(b.t.Context(), b.claim("a"), bump(nil, nil))
	b.noError(err)
	b.same(true, begun.Wait != nil)
	b.complete(lease, "a")
	begun, err = b.Begin(b.t.Context(), b.claim("a"), bump(errRefused, nil))
	b.noError(err)
	b.same(true, begun.Recorded != nil)
	b.bumped(0)
}

func completeChange(b *bench) {
	b.noError(b.Complete(b.t.Context(), b.lease("a"), b.activity("a"), bump(nil, nil)))
	b.bumped(1)
	b.recorded()
}

func completeRefusal(b *bench) { completeFails(b, bump(errRefused, nil), errRefused) }
func completeError(b *bench)   { completeFails(b, bump(nil, errFailed), errFailed) }

func completeFails(b *bench, failing store.Change, want error) {
	b.ttl = time.Minute
	lease := b.lease("a")
	b.is(b.Complete(b.t.Context(), lease, b.activity("a"), failing), want)
	b.bumped(0)
	_, err := b.Get(b.t.Context(), organization, b.activity("a").ID)
	b.is(err, store.ErrNotFound)
	b.busy()
	b.complete(lease, "a")
}

func completeLost(b *bench) {
	lease := b.lease("a")
	b.noError(b.Release(b.t.Context(), lease, nil))
	b.is(b.Complete(b.t.Context(), lease, b.activity("a"), bump(nil, nil)), store.ErrLeaseLost)
	b.bumped(0)
}

func releaseChange(b *bench) {
	b.noError(b.Release(b.t.Context(), b.lease("a"), bump(nil, nil)))
	b.bumped(1)
	b.lease("a")
}

func releaseRefusal(b *bench) {
	b.ttl = time.Minute
	lease := b.lease("a")
	b.is(b.Release(b.t.Context(), lease, bump(errRefused, nil)), errRefused)
	b.bumped(0)
	b.busy()
	b.noError(b.Release(b.t.Context(), lease, nil))
}

func releaseLost(b *bench) {
	lease := b.lease("a")
	b.complete(lease, "a")
	b.is(b.Release(b.t.Context(), lease, bump(nil, nil)), store.ErrLeaseLost)
	b.bumped(0)
}

func aloneChange(b *bench) {
	b.noError(b.Change(b.t.Context(), organization, bump(nil, nil)))
	b.is(b.Change(b.t.Context(), organization, bump(errRefused, nil)), errRefused)
	b.is(b.Change(b.t.Context(), organization, bump(nil, errFailed)), errFailed)
	b.bumped(2)
}

// wholeOrNot makes a change that writes everything it can, and then fails.
func wholeOrNot(b *bench) {
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(testCode("old", otpledger.StateLive)) })
	err := b.Change(b.t.Context(), organization, change(func(ledger otpledger.Ledger) (error, error) {
		_, _, tryErr := ledger.Try("old", fingerprint("try"), 3, epoch)
		_, moveErr := ledger.Move("old", otpledger.StateLive, otpledger.StateUsed)
		return nil, errors.Join(
			bumpMeter(ledger, testKey), tryErr, moveErr,
			ledger.Insert(testCode("new", otpledger.StatePending)),
			bumpMeter(ledger, testKey), errFailed)
	}))
	b.is(err, errFailed)
	b.bumped(0)
	b.do(func(ledger otpledger.Ledger) error {
		_, err := ledger.Code("new")
		b.is(err, otp.ErrUnknown)
		code, err := ledger.Code("old")
		b.same(testCode("old", otpledger.StateLive), code)
		return err
	})
}
