package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign-dev/countersign/otp"
)

func runLedger(t *testing.T, h Harness) {
	for name, test := range map[string]func(*bench){
		"codes are kept as they are":            codesAreKept,
		"meters are kept as they are":           metersAreKept,
		"tries are counted to the bound":        triesAreCounted,
		"a code expires to the millisecond":     triesExpire,
		"only a live code is tried":             onlyLiveIsTried,
		"a state moves once":                    statesMove,
		"organizations are walls":               ledgerWalls,
		"two hundred tries at once count three": triesAtOnce,
		"one request at once counts one":        repeatsAtOnce,
		"one move at once":                      movesAtOnce,
		"meters lose no update":                 metersAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(open(t, h)) })
	}
}

func testCode(id string, state otp.State) otp.Code {
	return otp.Code{
		ID:        id,
		Type:      otp.TypeEmail,
		Contact:   "jürgen@xn--mnchen-3ya.example",
		Hash:      fingerprint("hash of " + id),
		User:      otp.MeterKey{1},
		To:        otp.MeterKey{2},
		State:     state,
		CreatedAt: epoch.Add(123 * time.Millisecond),
		ExpiresAt: epoch.Add(300*time.Second + 123*time.Millisecond),
	}
}

func codesAreKept(b *bench) {
	tried := testCode("b", otp.StateDead)
	tried.Tried = []otp.Fingerprint{fingerprint("1"), fingerprint("2")}
	b.do(func(ledger otp.Ledger) error {
		if err := ledger.Insert(testCode("a", otp.StatePending)); err != nil {
			return err
		}
		return ledger.Insert(tried)
	})
	b.do(func(ledger otp.Ledger) error {
		a, err := ledger.Code("a")
		b.noError(err)
		b.same(testCode("a", otp.StatePending), a)
		got, err := ledger.Code("b")
		b.noError(err)
		b.same(tried, got)
		_, err = ledger.Code("c")
		b.is(err, otp.ErrUnknown)
		return nil
	})
}

func metersAreKept(b *bench) {
	want := otp.Meter{
		Sent:   []otp.Event{{At: epoch.UnixMilli(), By: 1<<64 - 1, N: 1}, {At: epoch.UnixMilli() + 1, By: 0, N: 1<<32 - 1}},
		Failed: []otp.Event{{At: epoch.UnixMilli() + 2, By: 3, N: 4}},
		Tried:  []otp.Event{{At: epoch.UnixMilli() + 5, By: 6, N: 7}},
		Live:   []otp.LiveCode{{ID: "a", By: 8, ExpiresAt: epoch.UnixMilli() + 9}, {ID: "b", By: 1 << 63, ExpiresAt: 1}},
		Until:  epoch.UnixMilli() + 10,
	}
	one, other := otp.MeterKey{9}, otp.MeterKey{8}
	b.do(func(ledger otp.Ledger) error {
		meters, err := ledger.Meters(one, other)
		b.noError(err)
		sameMeters(b, []otp.Meter{{}, {}}, meters)
		return ledger.SetMeter(one, want)
	})
	b.do(func(ledger otp.Ledger) error {
		meters, err := ledger.Meters(other, one)
		b.noError(err)
		sameMeters(b, []otp.Meter{{}, want}, meters)
		meters[1].Sent = append(meters[1].Sent[:1], otp.Event{At: 1}) // ours to change
		return nil
	})
	sameMeters(b, []otp.Meter{want}, []otp.Meter{b.meter(one)})
}

func sameMeters(b *bench, want, got []otp.Meter) {
	b.t.Helper()
	if diff := differences(want, got, cmpopts.EquateEmpty()); diff != "" {
		b.t.Fatalf("not what was expected (-want +got):\n%s", diff)
	}
}

// try tries a code and expects an outcome.
func (b *bench) try(id, by string, most int, now time.Time, want otp.Try, tries int) {
	b.t.Helper()
	b.do(func(ledger otp.Ledger) error {
		code, got, err := ledger.Try(id, fingerprint(by), most, now)
		if err != nil {
			return err
		}
		if got != want || len(code.Tried) != tries {
			b.t.Fatalf("try of %s by %s: outcome %d with %d tries; %d with %d were expected", id, by, got, len(code.Tried), want, tries)
		}
		return nil
	})
}

func triesAreCounted(b *bench) {
	b.do(func(ledger otp.Ledger) error { return ledger.Insert(testCode("a", otp.StateLive)) })
	b.try("a", "1", 3, epoch, otp.TryCounted, 1)
	b.try("a", "1", 3, epoch, otp.TryRepeated, 1)
	b.try("a", "2", 3, epoch, otp.TryCounted, 2)
	b.try("a", "3", 3, epoch, otp.TryCounted, 3)
	b.try("a", "4", 3, epoch, otp.TryRefused, 3)
	b.try("a", "2", 3, epoch, otp.TryRepeated, 3)
	b.try("unknown", "1", 3, epoch, otp.TryRefused, 0)
}

func triesExpire(b *bench) {
	code := testCode("a", otp.StateLive)
	b.do(func(ledger otp.Ledger) error { return ledger.Insert(code) })
	b.try("a", "1", 3, code.ExpiresAt.Add(-time.Millisecond), otp.TryCounted, 1)
	b.try("a", "2", 3, code.ExpiresAt, otp.TryRefused, 1)
	b.try("a", "1", 3, code.ExpiresAt, otp.TryRefused, 1)
}

func onlyLiveIsTried(b *bench) {
	for _, state := range []otp.State{otp.StatePending, otp.StateUsed, otp.StateDead} {
		id := fmt.Sprint(state)
		b.do(func(ledger otp.Ledger) error { return ledger.Insert(testCode(id, state)) })
		b.try(id, "1", 3, epoch, otp.TryRefused, 0)
	}
}

func (b *bench) move(id string, from, to otp.State) (moved bool) {
	b.t.Helper()
	b.do(func(ledger otp.Ledger) (err error) {
		moved, err = ledger.Move(id, from, to)
		return err
	})
	return moved
}

func statesMove(b *bench) {
	b.do(func(ledger otp.Ledger) error { return ledger.Insert(testCode("a", otp.StatePending)) })
	b.same(false, b.move("a", otp.StateLive, otp.StateUsed))
	b.same(true, b.move("a", otp.StatePending, otp.StateLive))
	b.same(true, b.move("a", otp.StateLive, otp.StateUsed))
	b.same(false, b.move("a", otp.StateLive, otp.StateUsed))
	b.same(false, b.move("unknown", otp.StateLive, otp.StateUsed))
	b.do(func(ledger otp.Ledger) error {
		code, err := ledger.Code("a")
		b.same(testCode("a", otp.StateUsed), code)
		return err
	})
}

func ledgerWalls(b *bench) {
	b.do(func(ledger otp.Ledger) error {
		b.noError(bumpMeter(ledger, testKey))
		return ledger.Insert(testCode("a", otp.StateLive))
	})
	b.noError(b.Change(b.t.Context(), "another", change(func(ledger otp.Ledger) (error, error) {
		_, err := ledger.Code("a")
		b.is(err, otp.ErrUnknown)
		_, try, err := ledger.Try("a", fingerprint("1"), 3, epoch)
		b.noError(err)
		b.same(otp.TryRefused, try)
		moved, err := ledger.Move("a", otp.StateLive, otp.StateUsed)
		b.noError(err)
		b.same(false, moved)
		meters, err := ledger.Meters(testKey)
		b.noError(err)
		sameMeters(b, []otp.Meter{{}}, meters)
		return nil, ledger.Insert(testCode("a", otp.StatePending)) // the same id, other side of the wall
	})))
	b.same(true, b.move("a", otp.StateLive, otp.StateUsed))
}

// atOnce makes n changes at once and counts those that tell to be counted.
func (b *bench) atOnce(n int, f func(ledger otp.Ledger, i int) (counts bool, err error)) int {
	b.t.Helper()
	var counted atomic.Int32
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			var counts bool
			err := b.Change(b.t.Context(), organization, change(func(ledger otp.Ledger) (_, err error) {
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
	b.do(func(ledger otp.Ledger) error { return ledger.Insert(testCode("a", otp.StateLive)) })
	b.same(3, b.atOnce(200, func(ledger otp.Ledger, i int) (bool, error) {
		_, try, err := ledger.Try("a", fingerprint(fmt.Sprint(i)), 3, epoch)
		return try == otp.TryCounted, err
	}))
	b.try("a", "another", 4, epoch, otp.TryCounted, 4)
}

func repeatsAtOnce(b *bench) {
	b.do(func(ledger otp.Ledger) error { return ledger.Insert(testCode("a", otp.StateLive)) })
	b.same(1, b.atOnce(50, func(ledger otp.Ledger, _ int) (bool, error) {
		_, try, err := ledger.Try("a", fingerprint("same"), 3, epoch)
		return try == otp.TryCounted, err
	}))
	b.try("a", "same", 3, epoch, otp.TryRepeated, 1)
}

func movesAtOnce(b *bench) {
	b.do(func(ledger otp.Ledger) error { return ledger.Insert(testCode("a", otp.StateLive)) })
	b.same(1, b.atOnce(100, func(ledger otp.Ledger, _ int) (bool, error) {
		return ledger.Move("a", otp.StateLive, otp.StateUsed)
	}))
}

// metersAtOnce counts two meters up from many sides, asking for them in either
// order.
func metersAtOnce(b *bench) {
	one, other := otp.MeterKey{1}, otp.MeterKey{2}
	b.atOnce(100, func(ledger otp.Ledger, i int) (bool, error) {
		if i%2 == 0 {
			return true, bumpMeter(ledger, one, other)
		}
		return true, bumpMeter(ledger, other, one)
	})
	b.same(100, len(b.meter(one).Sent))
	b.same(100, len(b.meter(other).Sent))
}
