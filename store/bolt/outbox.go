package bolt

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// Classes of events, in the keys of the outbox: organization ‖ class 1 ‖ place 8.
const (
	firstClass  = 1
	secondClass = 2
)

// outboxRest is the length of a key of the outbox after the organization.
const outboxRest = 1 + 8

// addEvent adds an event, encoded as time 8 ‖ id ‖ activity (both with their lengths) ‖ data.
func (t *transaction) addEvent(organizationID, activityID string, class byte, event *store.Event) error {
	if err := event.Check(); err != nil {
		return err
	}
	position, err := t.tx.Bucket(bucketOutbox).NextSequence()
	if err != nil {
		return unavailable(err)
	}
	key := within(organizationID, binary.BigEndian.AppendUint64([]byte{class}, position))
	value := binary.BigEndian.AppendUint64(nil, milliseconds(event.At))
	value = append(value, within(event.ID, within(activityID, event.Data))...)
	t.put(bucketOutbox, key, value)
	return nil
}

// pending decodes an entry of the outbox. The data is the file's, for as long as the transaction.
func pending(key, value []byte) (event store.Pending, err error) {
	var rest []byte
	if event.OrganizationID, rest, err = cutText(key); err == nil && (len(rest) != outboxRest || len(value) < 8) {
		err = errKey
	}
	if err != nil {
		return event, unavailable(err)
	}
	event.Second, event.Place = rest[0] == secondClass, binary.BigEndian.Uint64(rest[1:])
	event.At = time.UnixMilli(int64(binary.BigEndian.Uint64(value))).UTC()
	if event.ID, rest, err = cutText(value[8:]); err == nil {
		event.Activity, rest, err = cutText(rest)
	}
	event.Data = rest
	return event, unavailable(err)
}

func (s *Store) AddEvents(ctx context.Context, organizationID string, events []store.Event) error {
	return s.write(ctx, func(tx *transaction) error {
		for i := range events {
			if err := tx.addEvent(organizationID, "", secondClass, &events[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) Events(ctx context.Context, most int,
	skip []store.Lane) (events []store.Pending, waiting store.Backlog, err error) {
	skipped := store.LaneSet(skip)
	err = s.view(ctx, func(tx *transaction) error {
		events, waiting = nil, store.Backlog{}
		of := map[string]int{}
		for w := tx.walk(bucketOutbox, nil, nil, false); w.key != nil; w.next() {
			event, err := pending(w.key, w.value())
			if err != nil {
				return err
			}
			waiting.Note(event.At)
			if of[event.OrganizationID] < most && !skipped[event.Lane()] {
				of[event.OrganizationID]++
				event.Data = slices.Clone(event.Data)
				events = append(events, event)
			}
		}
		return nil
	})
	return events, waiting, err
}

func (s *Store) RemoveEvents(ctx context.Context, events []store.Pending) error {
	return s.write(ctx, func(tx *transaction) error {
		for i := range events {
			tx.remove(bucketOutbox, outboxKey(&events[i]))
		}
		return nil
	})
}

func outboxKey(event *store.Pending) []byte {
	class := byte(firstClass)
	if event.Second {
		class = secondClass
	}
	return within(event.OrganizationID, binary.BigEndian.AppendUint64([]byte{class}, event.Place))
}

func (s *Store) TrimEvents(ctx context.Context, before time.Time) (first, second int, err error) {
	err = s.write(ctx, func(tx *transaction) error {
		first, second = 0, 0
		excess, err := tx.excess(before)
		for i := range excess {
			tx.remove(bucketOutbox, outboxKey(&excess[i]))
			if excess[i].Second {
				second++
			} else {
				first++
			}
		}
		return err
	})
	return first, second, err
}

// excess returns the events that TrimEvents removes.
func (t *transaction) excess(before time.Time) (excess []store.Pending, err error) {
	byOrganization := map[string][]store.Pending{}
	for w := t.walk(bucketOutbox, nil, nil, false); w.key != nil; w.next() {
		event, err := pending(w.key, w.value())
		if err != nil {
			return nil, err
		}
		event.Data = nil
		byOrganization[event.OrganizationID] = append(byOrganization[event.OrganizationID], event)
	}
	for _, events := range byOrganization {
		excess = append(excess, store.Excess(events, before)...)
	}
	return excess, nil
}

// HoldOutbox implements store.Outbox: the file belongs to this process.
func (s *Store) HoldOutbox(ctx context.Context, _ uint64, _ time.Duration, _ time.Time) (bool, error) {
	return true, s.usable(ctx)
}
