package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// runOutbox tests the outbox of a store that has one.
func runOutbox(t *testing.T, h Harness) {
	can := open(t, h)
	if can.outbox == nil {
		return
	}
	t.Run("an event comes with its activity, or not at all", func(t *testing.T) { eventsWithActivities(open(t, h)) })
	t.Run("many at once", func(t *testing.T) { eventsAtOnce(open(t, h)) })
	t.Run("the second class comes last", func(t *testing.T) { eventsOfSecondClass(open(t, h)) })
	t.Run("lanes are skipped", func(t *testing.T) { lanesSkipped(open(t, h)) })
	t.Run("the oldest go", func(t *testing.T) { eventsTrimmed(open(t, h)) })
	t.Run("an event that is too long", func(t *testing.T) { eventTooLong(open(t, h)) })
	if can.Waiter != nil {
		t.Run("events of one activity are in order", func(t *testing.T) { eventsInOrder(open(t, h)) })
	}
	if h.Reopen != nil {
		t.Run("events survive", func(t *testing.T) { eventsSurvive(t, h) })
	}
	if h.Nodes != nil {
		t.Run("one node delivers", func(t *testing.T) { oneDelivers(t, h) })
	}
}

// told returns an activity with an event.
func (b *bench) told(body string) store.Activity {
	activity := b.activity(body)
	activity.Event = &store.Event{ID: "event of " + body, At: epoch, Data: []byte("what happened to " + body)}
	return activity
}

// events returns the ids of the events that wait, of each organization at most most.
func (b *bench) events(most int) (ids []string) {
	b.t.Helper()
	for _, event := range b.pending(most) {
		ids = append(ids, event.ID)
	}
	return ids
}

func (b *bench) pending(most int) []store.Pending {
	b.t.Helper()
	events, _, err := b.outbox.Events(b.t.Context(), most, nil)
	b.noError(err)
	return events
}

func eventsWithActivities(b *bench) {
	b.ttl = time.Minute
	lease := b.lease("a")
	b.is(b.Complete(b.t.Context(), lease, b.told("a"), bump(errRefused, nil)), errRefused)
	b.is(b.Complete(b.t.Context(), lease, b.told("a"), bump(nil, errFailed)), errFailed)
	b.same(0, len(b.pending(10)))
	b.noError(b.Complete(b.t.Context(), lease, b.told("a"), bump(nil, nil)))
	b.is(b.Complete(b.t.Context(), lease, b.told("a"), nil), store.ErrLeaseLost)
	b.noError(b.Complete(b.t.Context(), b.lease("b"), b.told("b"), nil))
	b.complete(b.lease("c"), "c")
	events := b.pending(10)
	b.same([]string{"event of a", "event of b"}, []string{events[0].ID, events[1].ID})
	b.same(store.Pending{
		Event: *b.told("a").Event, OrganizationID: organization, Activity: b.activity("a").ID, Place: events[0].Place,
	}, events[0])
	b.same([]string{"event of a"}, b.events(1))
	b.recorded() // without its event

	b.noError(b.outbox.RemoveEvents(b.t.Context(), events[:1]))
	b.noError(b.outbox.RemoveEvents(b.t.Context(), events[:1]))
	b.noError(b.outbox.RemoveEvents(b.t.Context(), nil))
	b.same([]string{"event of b"}, b.events(10))
}

func eventsAtOnce(b *bench) {
	const bodies = 60
	b.ttl = time.Minute
	b.inParallel(bodies, func(i int) {
		body := fmt.Sprint(i)
		activity := b.told(body)
		if i%3 == 0 {
			activity.Event = nil
		}
		begun, err := b.Begin(b.t.Context(), b.claim(body), nil)
		if err == nil {
			err = b.Complete(b.t.Context(), *begun.Lease, activity, nil)
		}
		if err != nil {
			b.t.Error(err)
		}
	})
	ids := b.events(bodies)
	slices.Sort(ids)
	b.same(bodies*2/3, len(slices.Compact(ids)))
}

func eventsOfSecondClass(b *bench) {
	second := func(n int) store.Event { return store.Event{ID: fmt.Sprint("second ", n), At: epoch, Data: []byte{}} }
	b.noError(b.outbox.AddEvents(b.t.Context(), organization, []store.Event{second(1), second(2)}))
	b.noError(b.outbox.AddEvents(b.t.Context(), "another", []store.Event{second(3)}))
	b.noError(b.Complete(b.t.Context(), b.lease("a"), b.told("a"), nil))
	events := b.pending(10)
	slices.SortStableFunc(events, func(x, y store.Pending) int { return len(y.OrganizationID) - len(x.OrganizationID) })
	var ids []string
	for _, event := range events {
		b.same(event.Second, event.Activity == "")
		ids = append(ids, event.ID)
	}
	b.same([]string{"event of a", "second 1", "second 2", "second 3"}, ids)
}

// lanesSkipped looks past the lanes that are not wanted: what is behind them is found, however
// many they are, and all that waits is counted.
func lanesSkipped(b *bench) {
	const poisoned = 40
	var poison []store.Event
	for n := range poisoned {
		poison = append(poison, store.Event{ID: fmt.Sprint("poison ", n),
			At: epoch.Add(time.Duration(n) * time.Second), Data: []byte{1}})
	}
	for _, body := range []string{"a", "b"} {
		b.noError(b.Complete(b.t.Context(), b.lease(body), b.told(body), nil))
	}
	b.noError(b.outbox.AddEvents(b.t.Context(), organization, poison))
	b.noError(b.outbox.AddEvents(b.t.Context(), organization,
		[]store.Event{{ID: "behind", At: epoch.Add(time.Hour), Data: []byte{2}}}))
	b.noError(b.outbox.AddEvents(b.t.Context(), "another", poison[:1]))
	of := func(organization string, skip ...store.Lane) (ids []string) {
		events, waiting, err := b.outbox.Events(b.t.Context(), 2, skip)
		b.noError(err)
		b.same(store.Backlog{Events: poisoned + 4, Oldest: epoch.UTC()}, waiting)
		for _, event := range events {
			if event.OrganizationID == organization {
				ids = append(ids, event.ID)
			}
		}
		return ids
	}
	b.same([]string{"event of a", "event of b"}, of(organization))
	skip := []store.Lane{{OrganizationID: organization, Name: b.activity("a").ID},
		{OrganizationID: "another", Name: b.activity("b").ID}}
	b.same([]string{"event of b", "poison 0"}, of(organization, skip...))
	for n := range poison {
		skip = append(skip, store.Lane{OrganizationID: organization, Name: poison[n].ID})
	}
	b.same([]string{"event of b", "behind"}, of(organization, skip...))
	b.same([]string{"poison 0"}, of("another", skip...))
}

func eventsTrimmed(b *bench) {
	const more = 3
	b.noError(b.Complete(b.t.Context(), b.lease("a"), b.told("a"), nil))
	var events []store.Event
	for n := range store.MaxEvents + more {
		events = append(events, store.Event{ID: fmt.Sprint(n), At: epoch.Add(time.Duration(n) * time.Millisecond),
			Data: []byte{1}})
	}
	b.noError(b.outbox.AddEvents(b.t.Context(), organization, events))
	b.noError(b.outbox.AddEvents(b.t.Context(), "another", events[:2]))
	first, second, err := b.outbox.TrimEvents(b.t.Context(), epoch)
	b.noError(err)
	b.same([]int{0, more + 1}, []int{first, second})
	ids := b.events(3)
	b.same(true, slices.Contains(ids, "event of a") && slices.Contains(ids, fmt.Sprint(more+1)))
	first, second, err = b.outbox.TrimEvents(b.t.Context(), epoch.Add(time.Millisecond))
	b.noError(err)
	b.same([]int{1, 1}, []int{first, second})
	b.same(store.MaxEvents, len(b.pending(store.MaxEvents+more)))
}

func eventTooLong(b *bench) {
	long := b.told("a")
	long.Event.Data = make([]byte, store.MaxEventBytes+1)
	if err := b.Complete(b.t.Context(), b.lease("a"), long, nil); err == nil {
		b.t.Error("an event that is too long is kept")
	}
	if err := b.outbox.AddEvents(b.t.Context(), organization, []store.Event{*long.Event}); err == nil {
		b.t.Error("an event that is too long is kept")
	}
	b.same(0, len(b.pending(10)))
}

// eventsInOrder also replaces an activity without success. Each change is told with an earlier time
// than the one before, as by a node whose clock is behind.
func eventsInOrder(b *bench) {
	b.ttl = time.Minute
	waits := b.told("a")
	waits.Waiting = true
	b.noError(b.Complete(b.t.Context(), b.lease("a"), waits, nil))
	for n := range 3 {
		changed := waits
		changed.Revision = uint64(n) + 1
		earlier := epoch.Add(-time.Duration(n) * time.Hour)
		changed.Event = &store.Event{ID: fmt.Sprint("change ", n), At: earlier, Data: []byte{}}
		var with store.Change
		if n == 1 {
			with = bump(nil, nil)
			b.is(b.Replace(b.t.Context(), changed, b.now, bump(errRefused, nil)), errRefused)
		}
		b.noError(b.Replace(b.t.Context(), changed, b.now, with))
		b.is(b.Replace(b.t.Context(), changed, b.now, nil), store.ErrChanged)
	}
	claim := b.claim("a")
	claim.Revision = 4
	begun, err := b.Begin(b.t.Context(), claim, nil)
	b.noError(err)
	done := b.told("a")
	done.Event.ID, done.Event.At = "done", epoch.Add(-5*time.Hour)
	other := b.told("b")
	other.Event.At = epoch.Add(time.Hour)
	b.noError(b.Complete(b.t.Context(), b.lease("b"), other, nil))
	b.noError(b.Complete(b.t.Context(), *begun.Lease, done, nil))
	var ids []string
	for _, event := range b.pending(10) {
		if event.Activity == b.activity("a").ID {
			ids = append(ids, event.ID)
		}
	}
	b.same([]string{"event of a", "change 0", "change 1", "change 2", "done"}, ids)
	b.same(6, len(b.pending(10)))
}

func eventsSurvive(t *testing.T, h Harness) {
	reopen := h.Reopen(t)
	b := on(t, h, reopen())
	b.noError(b.Complete(t.Context(), b.lease("a"), b.told("a"), nil))
	b.noError(b.Complete(t.Context(), b.lease("b"), b.told("b"), nil))
	b.noError(b.outbox.RemoveEvents(t.Context(), b.pending(1)))
	b.noError(b.Close())
	b = on(t, h, reopen())
	defer func() { _ = b.Close() }()
	b.same([]string{"event of b"}, b.events(10))
}

// oneDelivers gives the outbox to one of two nodes, and to the other when its time is over.
func oneDelivers(t *testing.T, h Harness) {
	b, nodes := openNodes(t, h)
	t.Cleanup(func() { _ = errors.Join(nodes[0].Close(), nodes[1].Close()) })
	hold := func(node int, holder uint64, ttl time.Duration) bool {
		held, err := nodes[node].(store.Outbox).HoldOutbox(t.Context(), holder, ttl, b.now)
		b.noError(err)
		return held
	}
	b.same([]bool{true, false, true}, []bool{hold(0, 1, time.Minute), hold(1, 2, time.Minute), hold(0, 1, b.ttl)})
	b.pass(2 * b.ttl)
	b.same([]bool{true, false}, []bool{hold(1, 2, time.Minute), hold(0, 1, time.Minute)})
}
