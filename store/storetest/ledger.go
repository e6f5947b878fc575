package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

func runLedger(t *testing.T, h Harness) {
	for name, test := range map[string]func(*bench){
		"codes are stored unchanged":            codesAreKept,
		"meters are stored unchanged":           metersAreKept,
		"tries are counted to the bound":        triesAreCounted,
		"a code expires to the millisecond":     triesExpire,
		"only a live code is tried":             onlyLiveIsTried,
		"a state moves once":                    statesMove,
		"organizations are separate":            ledgerWalls,
		"two hundred tries at once count three": triesAtOnce,
		"one request at once counts one":        repeatsAtOnce,
		"one move at once":                      movesAtOnce,
		"meters lose no update":                 metersAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(open(t, h)) })
	}
}

func testCode(id string, state otpledger.State) otpledger.Code {
	return otpledger.Code{
		ID:        id,
		Type:      string(otp.TypeEmail),
		Contact:   "jürgen@xn--mnchen-3ya.example",
		Hash:      fingerprint("hash of " + id),
		User:      otpledger.MeterKey{1},
		To:        otpledger.MeterKey{2},
		State:     state,
		CreatedAt: epoch.Add(123 * time.Millisecond),
		ExpiresAt: epoch.Add(300*time.Second + 123*time.Millisecond),
	}
}

func codesAreKept(b *bench) {
	tried := testCode("b", otpledger.StateDead)
	tried.Tried = []store.Fingerprint{fingerprint("1"), fingerprint("2")}
	b.do(func(ledger otpledger.Ledger) error {
		if err := ledger.Insert(testCode("a", otpledger.StatePending)); err != nil {
			return err
		}
		return ledger.Insert(tried)
	})
	b.do(func(ledger otpledger.Ledger) error {
		a, err := ledger.Code("a")
		b.noError(err)
		b.same(testCode("a", otpledger.StatePending), a)
		got, err := ledger.Code("b")
		b.noError(err)
		b.same(tried, got)
		_, err = ledger.Code("c")
		b.is(err, otp.ErrUnknown)
		return nil
	})
}

func metersAreKept(b *bench) {
	want := otpledger.Meter{
		Sent: []otpledger.Event{{At: epoch.UnixMilli(), By: 1<<64 - 1, N: 1},
			{At: epoch.UnixMilli() + 1, By: 0, N: 1<<32 - 1}},
		Failed: []otpledger.Event{{At: epoch.UnixMilli() + 2, By: 3, N: 4}},
		Tried:  []otpledger.Event{{At: epoch.UnixMilli() + 5, By: 6, N: 7}},
		Live: []otpledger.LiveCode{{ID: "a", By: 8, ExpiresAt: epoch.UnixMilli() + 9},
			{ID: "b", By: 1 << 63, ExpiresAt: 1}},
		Until: epoch.UnixMilli() + 10,
	}
	key, other := otpledger.MeterKey{9}, otpledger.MeterKey{8}
	b.do(func(ledger otpledger.Ledger) error {
		meters, err := ledger.Meters(key, other)
		b.noError(err)
		sameMeters(b, []otpledger.Meter{{}, {}}, meters)
		return ledger.SetMeter(key, want)
	})
	b.do(func(ledger otpledger.Ledger) error {
		meters, err := ledger.Meters(other, key)
		b.noError(err)
		sameMeters(b, []otpledger.Meter{{}, want}, meters)
		meters[1].Sent = append(meters[1].Sent[:1], otpledger.Event{At: 1}) // ours to change
		return nil
	})
	sameMeters(b, []otpledger.Meter{want}, []otpledger.Meter{b.meter(key)})
}

func sameMeters(b *bench, want, got []otpledger.Meter) {
	b.t.Helper()
	if diff := differences(want, got, cmpopts.EquateEmpty()); diff != "" {
		b.t.Fatalf("not what was expected (-want +got):\n%s", diff)
	}
}

// try tries a code and checks the outcome.
func (b *bench) try(id, by string, most int, now time.Time, want otpledger.Try, tries int) {
	b.t.Helper()
	b.do(func(ledger otpledger.Ledger) error {
		code, got, err := ledger.Try(id, fingerprint(by), most, now)
		if err != nil {
			return err
		}
		if got != want || len(code.Tried) != tries {
			b.t.Fatalf("try of %s by %s: outcome %d with %d tries; %d with %d were expected", id, by, got,
				len(code.Tried), want, tries)
		}
		return nil
	})
}

func triesAreCounted(b *bench) {
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(testCode("a", otpledger.StateLive)) })
	b.try("a", "1", 3, epoch, otpledger.TryCounted, 1)
	b.try("a", "1", 3, epoch, otpledger.TryRepeated, 1)
	b.try("a", "2", 3, epoch, otpledger.TryCounted, 2)
	b.try("a", "3", 3, epoch, otpledger.TryCounted, 3)
	b.try("a", "4", 3, epoch, otpledger.TryRefused, 3)
	b.try("a", "2", 3, epoch, otpledger.TryRepeated, 3)
	b.try("unknown", "1", 3, epoch, otpledger.TryRefused, 0)
}

func triesExpire(b *bench) {
	code := testCode("a", otpledger.StateLive)
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(code) })
	b.try("a", "1", 3, code.ExpiresAt.Add(-time.Millisecond), otpledger.TryCounted, 1)
	b.try("a", "2", 3, code.ExpiresAt, otpledger.TryRefused, 1)
	b.try("a", "1", 3, code.ExpiresAt, otpledger.TryRefused, 1)
}

func onlyLiveIsTried(b *bench) {
	for _, state := range []otpledger.State{otpledger.StatePending, otpledger.StateUsed, otpledger.StateDead} {
		id := fmt.Sprint(state)
		b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(testCode(id, state)) })
		b.try(id, "1", 3, epoch, otpledger.TryRefused, 0)
	}
}

func (b *bench) move(id string, from, to otpledger.State) (moved bool) {
	b.t.Helper()
	b.do(func(ledger otpledger.Ledger) (err error) {
		moved, err = ledger.Move(id, from, to)
		return err
	})
	return moved
}

func statesMove(b *bench) {
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(testCode("a", otpledger.StatePending)) })
	b.same(false, b.move("a", otpledger.StateLive, otpledger.StateUsed))
	b.same(true, b.move("a", otpledger.StatePending, otpledger.StateLive))
	b.same(true, b.move("a", otpledger.StateLive, otpledger.StateUsed))
	b.same(false, b.move("a", otpledger.StateLive, otpledger.StateUsed))
	b.same(false, b.move("unknown", otpledger.StateLive, otpledger.StateUsed))
	b.do(func(ledger otpledger.Ledger) error {
		code, err := ledger.Code("a")
		b.same(testCode("a", otpledger.StateUsed), code)
		return err
	})
}

func ledgerWalls(b *bench) {
	b.do(func(ledger otpledger.Ledger) error {
		b.noError(bumpMeter(ledger, testKey))
		return ledger.Insert(testCode("a", otpledger.StateLive))
	})
	b.noError(b.Change(b.t.Context(), "another", change(func(ledger otpledger.Ledger) (error, error) {
		_, err := ledger.Code("a")
		b.is(err, otp.ErrUnknown)
		_, try, err := ledger.Try("a", fingerprint("1"), 3, epoch)
		b.noError(err)
		b.same(otpledger.TryRefused, try)
		moved, err := ledger.Move("a", otpledger.StateLive, otpledger.StateUsed)
		b.noError(err)
		b.same(false, moved)
		meters, err := ledger.Meters(testKey)
		b.noError(err)
		sameMeters(b, []otpledger.Meter{{}}, meters)
		return nil, ledger.Insert(testCode("a", otpledger.StatePending)) // the same id, other side of the wall
	})))
	b.same(true, b.move("a", otpledger.StateLive, otpledger.StateUsed))
}

// atOnce makes n changes concurrently, and counts those that report true.
func (b *bench) atOnce(n int, f func(ledger otpledger.Ledger, i int) (counts bool, err error)) int {
	b.t.Helper()
	var counted atomic.Int32
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			var counts bool
			err := b.Change(b.t.Context(), organization, change(func(ledger otpledger.Ledger) (_, err error) {
				counts, err = f(ledger, i)
				return nil, err
			}))
			if err != nil {
				b.t.Error(err)
			}
			if counts {
				counted.Add(1)
			}
		})
	}
	all.Wait()
	return int(counted.Load())
}

func triesAtOnce(b *bench) {
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(testCode("a", otpledger.StateLive)) })
	b.same(3, b.atOnce(200, func(ledger otpledger.Ledger, i int) (bool, error) {
		_, try, err := ledger.Try("a", fingerprint(fmt.Sprint(i)), 3, epoch)
		return try == otpledger.TryCounted, err
	}))
	b.try("a", "another", 4, epoch, otpledger.TryCounted, 4)
}

func repeatsAtOnce(b *bench) {
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(testCode("a", otpledger.StateLive)) })
	b.same(1, b.atOnce(50, func(ledger otpledger.Ledger, _ int) (bool, error) {
		_, try, err := ledger.Try("a", fingerprint("same"), 3, epoch)
		return try == otpledger.TryCounted, err
	}))
	b.try("a", "same", 3, epoch, otpledger.TryRepeated, 1)
}

func movesAtOnce(b *bench) {
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(testCode("a", otpledger.StateLive)) })
	b.same(1, b.atOnce(100, func(ledger otpledger.Ledger, _ int) (bool, error) {
		return ledger.Move("a", otpledger.StateLive, otpledger.StateUsed)
	}))
}

// metersAtOnce increments two meters from many goroutines, which lock them in either
// order.
func metersAtOnce(b *bench) {
	key, other := otpledger.MeterKey{1}, otpledger.MeterKey{2}
	b.atOnce(100, func(ledger otpledger.Ledger, i int) (bool, error) {
		if i%2 == 0 {
			return true, bumpMeter(ledger, key, other)
		}
		return true, bumpMeter(ledger, other, key)
	})
	b.same(100, len(b.meter(key).Sent))
	b.same(100, len(b.meter(other).Sent))
}
