package otp

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
)

// Rate allows at most Count events in any Window: a sliding one, not a calendar
// hour.
type Rate struct {
	Count  int
	Window time.Duration // at most a day
}

// Check returns an error unless a rate allows at least one event, in a window from one
// second to one day.
func (r Rate) Check() error {
	if r.Count < 1 || r.Window < time.Second || r.Window > longestWindow {
		return fmt.Errorf("%d in %v: the count must be at least 1 and the window between 1 s and %v", r.Count, r.Window, longestWindow)
	}
	return nil
}

// exactEvents is the largest count for which a meter keeps events to the
// millisecond. For larger ones their times are rounded up to multiples of a 1024th
// of the window, so that a window never allows more than Count.
const exactEvents = 1024

func (r Rate) step() int64 {
	if r.Count <= exactEvents {
		return 1
	}
	return max(1, r.Window.Milliseconds()/exactEvents)
}

// unlimitedShare lets a single user consume the whole rate.
const unlimitedShare = math.MaxInt

// share is the part of a contact's rate that a single user may consume: Count−1, but
// at least 1, so that flooding an address cannot lock out its owner. A window may
// exceed Count by at most one.
func (r Rate) share() int { return max(1, r.Count-1) }

// wait returns how long it takes until one more event is allowed: zero if it is
// allowed at now. No user counts for more than share.
func (r Rate) wait(events []otpledger.Event, now time.Time, share int) time.Duration {
	window := r.Window.Milliseconds()
	events = since(events, now.UnixMilli()-window)
	byUser := map[uint64]int{}
	total := 0
	for _, event := range events {
		before := byUser[event.By]
		byUser[event.By] = before + int(event.N)
		total += min(before+int(event.N), share) - min(before, share)
	}
	for _, event := range events {
		if total < r.Count {
			return 0
		}
		before := byUser[event.By]
		byUser[event.By] = before - int(event.N)
		total -= min(before, share) - min(before-int(event.N), share)
		if total < r.Count {
			return time.UnixMilli(event.At + window).Sub(now)
		}
	}
	if total < r.Count {
		return 0
	}
	return r.Window // a rate that allows no events
}

// count adds an event to one of the meter's lists, and keeps the meter for as long
// as the event matters.
func (r Rate) count(meter *otpledger.Meter, events *[]otpledger.Event, at time.Time, by uint64) {
	*events = r.add(*events, at, by)
	meter.Until = max(meter.Until, roundUp(at.UnixMilli(), r.step())+r.Window.Milliseconds())
}

// add adds an event, and removes those that have left the window.
func (r Rate) add(events []otpledger.Event, at time.Time, by uint64) []otpledger.Event {
	ms := roundUp(at.UnixMilli(), r.step())
	events = since(events, ms-r.Window.Milliseconds())
	i := len(events)
	for i > 0 && events[i-1].At > ms {
		i--
	}
	if i > 0 && events[i-1].At == ms && events[i-1].By == by {
		events[i-1].N++
		return events
	}
	return slices.Insert(events, i, otpledger.Event{At: ms, By: by, N: 1})
}

// remove takes back an event that add has added.
func (r Rate) remove(events []otpledger.Event, at time.Time, by uint64) []otpledger.Event {
	ms := roundUp(at.UnixMilli(), r.step())
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].At != ms || events[i].By != by {
			continue
		}
		if events[i].N > 1 {
			events[i].N--
			return events
		}
		return slices.Delete(events, i, i+1)
	}
	return events
}

// since returns a copy of the events after ms: an event that is exactly one window
// old has left it.
func since(events []otpledger.Event, ms int64) []otpledger.Event {
	first := slices.IndexFunc(events, func(event otpledger.Event) bool { return event.At > ms })
	if first < 0 {
		return nil
	}
	return slices.Clone(events[first:])
}

func roundUp(ms, step int64) int64 {
	if over := ms % step; over > 0 {
		return ms + step - over
	}
	return ms
}
