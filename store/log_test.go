package store_test

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// TestAcceptanceGoesByTheLatestClock: a clock that was set back before a loss is accepted
// does not make what was answered before it live again. A time far ahead is no time.
func TestAcceptanceGoesByTheLatestClock(t *testing.T) {
	at := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	const tick = time.Millisecond
	for name, test := range map[string]struct{ seen, found, own, others, until time.Time }{
		"in order":              {at, at.Add(time.Minute), at.Add(time.Hour), at, at.Add(time.Hour + time.Minute + tick)},
		"the store's is ahead":  {at, at, at, at.Add(time.Hour), at.Add(time.Hour + time.Minute + tick)},
		"set back since seen":   {at, at.Add(-time.Hour), at.Add(-time.Hour), at.Add(-time.Hour), at.Add(time.Minute + tick)},
		"set back since found":  {at, at.Add(2 * time.Hour), at.Add(-time.Hour), at.Add(-time.Hour), at.Add(2*time.Hour + time.Minute + tick)},
		"set back a day":        {at.Add(store.MaxClockError), at, at, at, at.Add(store.MaxClockError + time.Minute + tick)},
		"seen ten years ahead":  {at.AddDate(10, 0, 0), at, at, at, at.Add(time.Minute + tick)},
		"nothing known of when": {time.Time{}, time.Time{}, at, at, at.Add(time.Minute + tick)},
	} {
		lost := tlog.Tree{N: 3, Hash: tlog.Hash{1}}
		head := translog.Head{Conflict: &translog.Conflict{Remembered: lost, Seen: test.seen, Found: test.found}}
		accepted := store.Acceptance{Remembered: lost, Found: head.Tree(), Now: test.own, Skew: time.Minute, Leaf: store.LogEntry{ID: "a", Leaf: []byte("a")}}
		if _, err := accepted.Apply(&head, test.others); err != nil || !head.Accepted.Equal(test.until) || head.Conflict != nil {
			t.Errorf("%s: until %v, %v: want %v", name, head.Accepted, err, test.until)
		}
		if err := store.Admit(&head, test.until, nil); !errors.Is(err, store.ErrStale) {
			t.Errorf("%s: what was sent at %v: %v", name, test.until, err)
		}
	}
}
