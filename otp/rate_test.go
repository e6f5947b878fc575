package otp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
)

var t0 = time.Date(2026, time.May, 4, 3, 2, 1, 0, time.UTC)

func TestRateWindow(t *testing.T) {
	rate := Rate{Count: 3, Window: time.Minute}
	var events []otpledger.Event
	for i, second := range []int{0, 10, 20} {
		at := t0.Add(time.Duration(second) * time.Second)
		if wait := rate.wait(events, at, unlimitedShare); wait != 0 {
			t.Fatalf("event %d: wait %v", i, wait)
		}
		events = rate.add(events, at, 0)
	}
	for _, test := range []struct{ after, want time.Duration }{
		{20 * time.Second, 40 * time.Second},
		{time.Minute - time.Millisecond, time.Millisecond},
		{time.Minute, 0},
	} {
		if got := rate.wait(events, t0.Add(test.after), unlimitedShare); got != test.want {
			t.Errorf("after %v: wait %v, want %v", test.after, got, test.want)
		}
	}
}

// TestRateShare checks that one user cannot use up a contact's rate, but two can.
func TestRateShare(t *testing.T) {
	rate := Rate{Count: 3, Window: time.Minute}
	for _, test := range []struct {
		by   []uint64
		free bool
	}{
		{[]uint64{1, 1, 1}, true},
		{[]uint64{1, 1, 1, 1, 1}, true},
		{[]uint64{1, 1, 2}, false},
		{[]uint64{1, 2, 3}, false},
		{[]uint64{1, 1, 1, 2}, false},
		{[]uint64{1, 2}, true},
	} {
		var events []otpledger.Event
		for _, by := range test.by {
			events = rate.add(events, t0, by)
		}
		if free := rate.wait(events, t0, rate.share()) == 0; free != test.free {
			t.Errorf("after events by %v: free %v, want %v", test.by, free, test.free)
		}
	}
}

// TestRateNeverExceeded checks rates, coarse ones included, against a plain count of
// random events: no window allows more than Count, and an event after the wait that
// was returned is allowed.
func TestRateNeverExceeded(t *testing.T) {
	testenv.Slow(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []Rate{{1, time.Second}, {5, time.Minute}, {1000, time.Hour}, {3000, time.Hour}} {
		var events []otpledger.Event
		var allowed []time.Time
		at := t0
		for range 20_000 {
			at = at.Add(time.Duration(random.Int64N(int64(rate.Window)*2/int64(rate.Count)) + int64(time.Millisecond)/2).Truncate(time.Millisecond))
			wait := rate.wait(events, at, unlimitedShare)
			if wait > 0 && random.IntN(2) == 0 {
				at = at.Add(wait)
				if left := rate.wait(events, at, unlimitedShare); left != 0 {
					t.Fatalf("%v: after waiting %v, still %v to wait", rate, wait, left)
				}
				wait = 0
			}
			if wait > 0 {
				continue
			}
			events = rate.add(events, at, 0)
			allowed = append(allowed, at)
			if first := len(allowed) - 1 - rate.Count; first >= 0 && at.Sub(allowed[first]) < rate.Window {
				t.Fatalf("%v: %d in %v", rate, rate.Count+1, at.Sub(allowed[first]))
			}
			if len(events) > exactEvents+2 {
				t.Fatalf("%v: %d events are kept", rate, len(events))
			}
		}
		if len(allowed) < rate.Count {
			t.Fatalf("%v: only %d were allowed", rate, len(allowed))
		}
	}
}

func TestRateRemove(t *testing.T) {
	for _, rate := range []Rate{{3, time.Minute}, {5000, time.Minute}} {
		var events []otpledger.Event
		for i := range 3 {
			events = rate.add(events, t0.Add(time.Duration(i)*time.Second), 7)
		}
		events = rate.add(events, t0, 7)
		want := slices.Clone(events)
		events = rate.add(events, t0, 7)
		events = rate.add(events, t0.Add(time.Second), 8)
		events = rate.remove(events, t0, 7)
		events = rate.remove(events, t0.Add(time.Second), 8)
		events = rate.remove(events, t0.Add(time.Minute), 7) // never added
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("%v: after removing the added events:\n%s", rate, diff)
		}
	}
}
