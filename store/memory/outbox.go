package memory

import (
	"context"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// outbox keeps events.
type outbox struct {
	*space
	events map[string][]store.Pending // by organization: the first class, then the second
	place  uint64                     // of the latest event
}

// pendingCost is the approximate memory of an event in addition to its data.
const pendingCost = 256

func eventCost(event *store.Event) int {
	if event == nil {
		return 0
	}
	return pendingCost + len(event.Data)
}

// addEvent adds an event of the first class if it is about an activity, and otherwise one of
// the second. The caller has checked that there is room.
func (o *outbox) addEvent(organizationID, activityID string, event store.Event) {
	o.place++
	event.At = event.At.Truncate(time.Millisecond).UTC()
	pending := store.Pending{Event: event, OrganizationID: organizationID, Activity: activityID,
		Second: activityID == "", Place: o.place}
	all := o.events[organizationID]
	index := len(all)
	if !pending.Second {
		index = slices.IndexFunc(all, func(other store.Pending) bool { return other.Second })
		if index < 0 {
			index = len(all)
		}
	}
	o.events[organizationID] = slices.Insert(all, index, pending)
	o.used += eventCost(&event)
}

func (o *outbox) AddEvents(ctx context.Context, organizationID string, events []store.Event) error {
	if err := o.lock(ctx); err != nil {
		return err
	}
	defer o.mu.Unlock()
	cost := 0
	for i := range events {
		if err := events[i].Check(); err != nil {
			return err
		}
		cost += eventCost(&events[i])
	}
	if err := o.room(cost); err != nil {
		return err
	}
	for _, event := range events {
		o.addEvent(organizationID, "", event)
	}
	return nil
}

func (o *outbox) Events(ctx context.Context, most int,
	skip []store.Lane) (events []store.Pending, waiting store.Backlog, err error) {
	if err := o.lock(ctx); err != nil {
		return nil, waiting, err
	}
	defer o.mu.Unlock()
	skipped := store.LaneSet(skip)
	for _, all := range o.events {
		left := most
		for i := range all {
			waiting.Note(all[i].At)
			if left > 0 && !skipped[all[i].Lane()] {
				events, left = append(events, all[i]), left-1
			}
		}
	}
	return events, waiting, nil
}

func (o *outbox) RemoveEvents(ctx context.Context, events []store.Pending) error {
	if err := o.lock(ctx); err != nil {
		return err
	}
	defer o.mu.Unlock()
	o.removeEvents(events)
	return nil
}

func (o *outbox) removeEvents(events []store.Pending) {
	type key struct {
		organization string
		place        uint64
	}
	gone := map[key]bool{}
	for i := range events {
		gone[key{events[i].OrganizationID, events[i].Place}] = true
	}
	for organizationID, all := range o.events {
		kept := slices.DeleteFunc(slices.Clone(all), func(event store.Pending) bool {
			if gone[key{organizationID, event.Place}] {
				o.used -= eventCost(&event.Event)
			}
			return gone[key{organizationID, event.Place}]
		})
		if o.events[organizationID] = kept; len(kept) == 0 {
			delete(o.events, organizationID)
		}
	}
}

func (o *outbox) TrimEvents(ctx context.Context, before time.Time) (first, second int, err error) {
	if err := o.lock(ctx); err != nil {
		return 0, 0, err
	}
	defer o.mu.Unlock()
	var excess []store.Pending
	for _, all := range o.events {
		excess = append(excess, store.Excess(all, before)...)
	}
	for i := range excess {
		if excess[i].Second {
			second++
		} else {
			first++
		}
	}
	o.removeEvents(excess)
	return first, second, nil
}

// HoldOutbox implements store.Outbox: the store belongs to this process.
func (o *outbox) HoldOutbox(ctx context.Context, _ uint64, _ time.Duration, _ time.Time) (bool, error) {
	return true, o.Ping(ctx)
}
