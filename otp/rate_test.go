package otp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign-dev/countersign/internal/testenv"
)

var t0 = time.Date(2026, time.May, 4, 3, 2, 1, 0, time.UTC)

func TestRateWindow(t *testing.T) {
	rate := Rate{Count: 3, Window: time.Minute}
	var events []Event
	for i, second := range []int{0, 10, 20} {
		at := t0.Add(time.Duration(second) * time.Second)
		if wait := rate.wait(events, at, unlimitedShare); wait != 0 {
			t.Fatalf("event %d has to wait %v", i, wait)
		}
		events = rate.add(events, at, 0)
	}
	for _, one := range []struct{ at, want time.Duration }{
		{20 * time.Second, 40 * time.Second},
		{time.Minute - time.Millisecond, time.Millisecond},
		{time.Minute, 0},
	} {
		if got := rate.wait(events, t0.Add(one.at), unlimitedShare); got != one.want {
			t.Errorf("after %v the wait is %v; %v was expected", one.at, got, one.want)
		}
	}
}

// TestRateShare: a user who uses up a contact's rate leaves one for others; two
// of them together do not.
func TestRateShare(t *testing.T) {
	rate := Rate{Count: 3, Window: time.Minute}
	for _, one := range []struct {
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
		var events []Event
		for _, by := range one.by {
			events = rate.add(events, t0, by)
		}
		if free := rate.wait(events, t0, rate.share()) == 0; free != one.free {
			t.Errorf("after %v: free %v", one.by, free)
		}
	}
}

// TestRateNeverExceeded throws random events at rates, coarse ones too, and
// counts by hand: no window ever has more than it may, and who waits as long as
// he is told is let through.
func TestRateNeverExceeded(t *testing.T) {
	testenv.Slow(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []Rate{{1, time.Second}, {5, time.Minute}, {1000, time.Hour}, {3000, time.Hour}} {
		var events []Event
		var admitted []time.Time
		at := t0
		for range 20_000 {
			at = at.Add(time.Duration(random.Int64N(int64(rate.Window)*2/int64(rate.Count)) + int64(time.Millisecond)/2).Truncate(time.Millisecond))
			wait := rate.wait(events, at, unlimitedShare)
			if wait > 0 && random.IntN(2) == 0 {
				at = at.Add(wait)
				if left := rate.wait(events, at, unlimitedShare); left != 0 {
					t.Fatalf("%v: after waiting %v there are %v left", rate, wait, left)
				}
				wait = 0
			}
			if wait > 0 {
				continue
			}
			events = rate.add(events, at, 0)
			admitted = append(admitted, at)
			if first := len(admitted) - 1 - rate.Count; first >= 0 && at.Sub(admitted[first]) < rate.Window {
				t.Fatalf("%v: %d in %v", rate, rate.Count+1, at.Sub(admitted[first]))
			}
			if len(events) > exactEvents+2 {
				t.Fatalf("%v: %d events are kept", rate, len(events))
			}
		}
		if len(admitted) < rate.Count {
			t.Fatalf("%v: only %d were admitted", rate, len(admitted))
		}
	}
}

func TestRateRemove(t *testing.T) {
	for _, rate := range []Rate{{3, time.Minute}, {5000, time.Minute}} {
		var events []Event
		for i := range 3 {
			events = rate.add(events, t0.Add(time.Duration(i)*time.Second), 7)
		}
		events = rate.add(events, t0, 7)
		want := slices.Clone(events)
		events = rate.add(events, t0, 7)
		events = rate.add(events, t0.Add(time.Second), 8)
		events = rate.remove(events, t0, 7)
		events = rate.remove(events, t0.Add(time.Second), 8)
		events = rate.remove(events, t0.Add(time.Minute), 7) // which was never there
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("%v: after removing what was added:\n%s", rate, diff)
		}
	}
}

// TestMeterEncoding: what was written is read; what was cut, lengthened or
// changed is refused or is another meter, and never a panic.
func TestMeterEncoding(t *testing.T) {
	meter := Meter{
		Sent:   []Event{{1, 2, 3}, {4, 5, 6}},
		Failed: []Event{{7, 8, 9}},
		Tried:  []Event{{10, 11, 12}},
		Live:   []LiveCode{{"id", 13, 14}, {"", 15, 16}},
		Until:  17,
	}
	raw := meter.Append(nil)
	got, err := ParseMeter(raw)
	if diff := cmp.Diff(meter, got); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}
	empty, err := ParseMeter((&Meter{}).Append(nil))
	if diff := cmp.Diff(Meter{}, empty, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}
	for i := 1; i < len(raw); i++ {
		if _, err := ParseMeter(raw[:i]); err == nil {
			t.Errorf("cut to %d bytes it is read", i)
		}
	}
	if _, err := ParseMeter(append(slices.Clone(raw), 0)); err == nil {
		t.Error("with a byte behind it it is read")
	}
	for i := range raw {
		for bit := range 8 {
			changed := slices.Clone(raw)
			changed[i] ^= 1 << bit
			if other, err := ParseMeter(changed); err == nil && cmp.Equal(meter, other) {
				t.Errorf("byte %d changed it is the same", i)
			}
		}
	}
	if _, err := ParseMeter([]byte{meterVersion, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}); err == nil {
		t.Error("a count without events is read")
	}
	padded := slices.Concat([]byte{meterVersion}, make([]byte, 8), []byte{0x80, 0x00, 0, 0, 0})
	if _, err := ParseMeter(padded); err == nil {
		t.Error("a count in a longer form than it needs is read")
	}
}

func TestLimitsThatCannotBe(t *testing.T) {
	for name, limits := range map[string]Limits{
		"no sends":        {Sends: Rate{0, time.Minute}},
		"a short window":  {DailyTries: Rate{1, time.Millisecond}},
		"a long window":   {OrganizationSends: Rate{1, 25 * time.Hour}},
		"no live codes":   {LiveCodes: -1},
		"too many tries":  {TriesPerCode: maxTriesPerCode + 1},
		"no life to have": {MaxExpiration: -1},
	} {
		if err := limits.withDefaults().check(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := (Limits{}).withDefaults().check(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}
