package otp

import (
	"math"
	"slices"
	"time"
)

// Rate is at most Count in any Window: not in any calendar hour, but in the
// hour that ends now.
type Rate struct {
	Count  int
	Window time.Duration // at most a day
}

// exactEvents is how many events a meter keeps to the millisecond. Of a rate
// with a greater count they are kept in steps of the window's 1024th part,
// rounded up, so that a window never lets more through than it should.
const exactEvents = 1024

func (r Rate) step() int64 {
	if r.Count <= exactEvents {
		return 1
	}
	return max(1, r.Window.Milliseconds()/exactEvents)
}

// unlimitedShare lets one user use a rate up alone.
const unlimitedShare = math.MaxInt

// share is the part of a contact's limit that a single user may consume: Count−1,
// so that flooding an address cannot lock out its owner. A window may exceed Count
// by at most one.
func (r Rate) share() int { return max(1, r.Count-1) }

// wait returns how long it is until one more is allowed: zero if it is allowed
// at now. No user counts for more than share.
func (r Rate) wait(events []Event, now time.Time, share int) time.Duration {
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
	return r.Window // a rate that allows none
}

// add notes an event, and forgets those that have left the window.
func (r Rate) add(events []Event, at time.Time, by uint64) []Event {
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
	return slices.Insert(events, i, Event{At: ms, By: by, N: 1})
}

// remove takes back what add noted.
func (r Rate) remove(events []Event, at time.Time, by uint64) []Event {
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

// since returns the events later than a time: one that is exactly a window old
// has left it.
func since(events []Event, ms int64) []Event {
	first := slices.IndexFunc(events, func(event Event) bool { return event.At > ms })
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
