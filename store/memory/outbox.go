package memory

import (
	"context"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
)

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
func (s *Store) addEvent(organizationID, activityID string, event store.Event) {
	s.place++
	event.At = event.At.Truncate(time.Millisecond).UTC()
	pending := store.Pending{Event: event, OrganizationID: organizationID, Activity: activityID, Second: activityID == "", Place: s.place}
	all := s.events[organizationID]
	index := len(all)
	if !pending.Second {
		index = slices.IndexFunc(all, func(other store.Pending) bool { return other.Second })
		if index < 0 {
			index = len(all)
		}
	}
	s.events[organizationID] = slices.Insert(all, index, pending)
	s.used += eventCost(&event)
}

// AddEvents implements store.Outbox.
func (s *Store) AddEvents(ctx context.Context, organizationID string, events []store.Event) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	cost := 0
	for i := range events {
		if err := events[i].Check(); err != nil {
			return err
		}
		cost += eventCost(&events[i])
	}
	if err := s.room(cost); err != nil {
		return err
	}
	for _, event := range events {
		s.addEvent(organizationID, "", event)
	}
	return nil
}

// Events implements store.Outbox.
func (s *Store) Events(ctx context.Context, most int, skip []store.Lane) (events []store.Pending, waiting store.Backlog, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, waiting, err
	}
	defer s.mu.Unlock()
	skipped := store.LaneSet(skip)
	for _, all := range s.events {
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

// RemoveEvents implements store.Outbox.
func (s *Store) RemoveEvents(ctx context.Context, events []store.Pending) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.removeEvents(events)
	return nil
}

func (s *Store) removeEvents(events []store.Pending) {
	gone := map[uint64]bool{}
	for i := range events {
		gone[events[i].Place] = true
	}
	for organizationID, all := range s.events {
		kept := slices.DeleteFunc(slices.Clone(all), func(event store.Pending) bool {
			if gone[event.Place] {
				s.used -= eventCost(&event.Event)
			}
			return gone[event.Place]
		})
		if s.events[organizationID] = kept; len(kept) == 0 {
			delete(s.events, organizationID)
		}
	}
}

// TrimEvents implements store.Outbox.
func (s *Store) TrimEvents(ctx context.Context, before time.Time) (first, second int, err error) {
	if err := s.lock(ctx); err != nil {
		return 0, 0, err
	}
	defer s.mu.Unlock()
	var excess []store.Pending
	for _, all := range s.events {
		excess = append(excess, store.Excess(all, before)...)
	}
	for i := range excess {
		if excess[i].Second {
			second++
		} else {
			first++
		}
	}
	s.removeEvents(excess)
	return first, second, nil
}

// HoldOutbox implements store.Outbox: the store belongs to this process.
func (s *Store) HoldOutbox(ctx context.Context, _ uint64, _ time.Duration, _ time.Time) (bool, error) {
	return true, s.Ping(ctx)
}
