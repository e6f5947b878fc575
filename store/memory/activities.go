package memory

import (
	"container/list"
	"context"
	"time"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// kept is a recorded activity with its place in the order and in the heap. The activity
// is never modified, only replaced: callers have pointers to it.
type kept struct {
	*store.Activity
	due     time.Time     // when its element of the heap comes up
	element *list.Element // in the order of its organization
}

// put records an activity, replacing before, which may be nil, together with a change.
// reserved is what a lease has reserved for it.
func (s *Store) put(activity store.Activity, before *kept, reserved int, change store.Change) error {
	activity.Data = fitted(activity.Data)
	leaf, event := activity.Leaf, activity.Event
	var after translog.Head // with the stops that the log will have
	restops := activity.Stops != nil
	if restops {
		after = s.log(activity.OrganizationID).head
		if err := activity.Restop(&after); err != nil {
			return err
		}
	}
	activity.Leaf, activity.Event, activity.Sent, activity.Most = nil, nil, time.Time{}, store.Crowd{}
	activity.Of, activity.Stops = nil, nil
	if event != nil {
		if err := event.Check(); err != nil {
			return err
		}
	}
	cost := costOf(&activity)
	if before != nil {
		cost -= costOf(before.Activity)
	}
	if err := s.room(cost + leafCost(leaf) + eventCost(event) - reserved); err != nil {
		return err
	}
	if err := s.apply(activity.OrganizationID, change, true); err != nil {
		return err
	}
	if leaf != nil {
		s.append(activity.OrganizationID, activity.ID, leaf)
	}
	if restops {
		s.log(activity.OrganizationID).head.Stops = after.Stops
	}
	if event != nil {
		s.addEvent(activity.OrganizationID, activity.ID, *event)
	}
	s.used += cost
	if before != nil {
		before.Activity = &activity
		s.file(before)
		return nil
	}
	first := &struct {
		kept
		activity store.Activity
	}{activity: activity}
	first.Activity = &first.activity
	s.file(&first.kept)
	return nil
}

// file adds an activity to the indexes, and to the heap so that it expires in time.
func (s *Store) file(k *kept) {
	key := requestKey{k.OrganizationID, k.Fingerprint}
	s.activities[key], s.ids[idKey{k.OrganizationID, k.ID}] = k, k
	delete(s.waiting, key)
	if k.Waiting {
		s.waiting[key] = k
	}
	if k.element == nil {
		k.element = s.insert(k)
	}
	if k.due.IsZero() || k.KeepUntil.Before(k.due) {
		k.due = k.KeepUntil
		s.expiry.add(expiring{at: k.due, kind: kindActivity, organization: k.OrganizationID, key: k.Fingerprint})
	}
}

// insert finds an activity's place in the order, which is at or near the end since IDs
// begin with the time.
func (s *Store) insert(k *kept) *list.Element {
	order := s.order[k.OrganizationID]
	if order == nil {
		order = list.New()
		s.order[k.OrganizationID] = order
	}
	for element := order.Back(); element != nil; element = element.Prev() {
		if element.Value.(*kept).ID < k.ID {
			return order.InsertAfter(k, element)
		}
	}
	return order.PushFront(k)
}

func (s *Store) remove(k *kept) {
	key := requestKey{k.OrganizationID, k.Fingerprint}
	delete(s.activities, key)
	delete(s.waiting, key)
	delete(s.ids, idKey{k.OrganizationID, k.ID})
	order := s.order[k.OrganizationID]
	order.Remove(k.element)
	if order.Len() == 0 {
		delete(s.order, k.OrganizationID)
	}
	s.used -= costOf(k.Activity)
}

func (s *Store) Replace(ctx context.Context, activity store.Activity, now time.Time, change store.Change) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	before := s.activities[requestKey{activity.OrganizationID, activity.Fingerprint}]
	if before == nil || !before.Waiting || before.Revision != activity.Revision {
		return store.ErrChanged
	}
	if !activity.Sent.IsZero() {
		if err := s.admit(activity.OrganizationID, time.Time{}, nil); err != nil {
			return err
		}
	}
	begun, err := s.leases.Take(store.Claim{OrganizationID: activity.OrganizationID,
		Fingerprint: activity.Fingerprint, LeaseTTL: time.Minute, Now: now})
	switch {
	case err != nil:
		return err
	case begun.Lease == nil:
		return store.ErrHeld
	}
	defer s.leases.End(*begun.Lease)
	activity.ID, activity.SubmittedBy, activity.User, activity.Type = before.ID, before.SubmittedBy, before.User,
		before.Type
	activity.At = before.At
	activity.Revision++
	return s.put(activity, before, 0, change)
}

func (s *Store) Find(ctx context.Context, organizationID string,
	fingerprint store.Fingerprint) (store.Activity, error) {
	if err := s.lock(ctx); err != nil {
		return store.Activity{}, err
	}
	defer s.mu.Unlock()
	entry := s.activities[requestKey{organizationID, fingerprint}]
	if entry == nil || !entry.Waited() {
		return store.Activity{}, store.ErrNotFound
	}
	return *entry.Activity, nil
}

func (s *Store) List(ctx context.Context, organizationID string,
	filter store.Filter) (activities []store.Activity, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	order := s.order[organizationID]
	if order == nil {
		return nil, nil
	}
	element, next := order.Back(), (*list.Element).Prev
	if filter.Ascending() {
		element, next = order.Front(), (*list.Element).Next
	}
	const looks = 1024 // after which the caller may be gone
	size := 0
	for n := 1; element != nil && !filter.Full(len(activities), size); n, element = n+1, next(element) {
		if err := ctx.Err(); n%looks == 0 && err != nil {
			return nil, err
		}
		if activity := element.Value.(*kept).Activity; filter.Holds(activity) {
			activities, size = append(activities, *activity), size+len(activity.Data)
		}
	}
	return filter.Ordered(activities), nil
}

func (s *Store) Waiting(ctx context.Context) (activities []store.Activity, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, entry := range s.waiting {
		activity := *entry.Activity
		activity.Data = nil
		activities = append(activities, activity)
	}
	return activities, nil
}
