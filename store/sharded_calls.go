package store

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/translog"
)

func (s *Sharded) Begin(ctx context.Context, claim Claim, change Change) (BeginResult, error) {
	return s.of(claim.OrganizationID).Begin(ctx, claim, atHome(change))
}

func (s *Sharded) Renew(ctx context.Context, lease Lease, ttl time.Duration, now time.Time) (Lease, error) {
	return s.of(lease.OrganizationID).Renew(ctx, lease, ttl, now)
}

func (s *Sharded) Complete(ctx context.Context, lease Lease, activity Activity, change Change) error {
	activity.Sent = cmp.Or(activity.Sent, forever) // so that the store looks at the head
	return s.of(lease.OrganizationID).Complete(ctx, lease, activity, change)
}

// Release implements Store. Charges of before a move are given back.
func (s *Sharded) Release(ctx context.Context, lease Lease, change Change) error {
	return s.of(lease.OrganizationID).Release(ctx, lease, change)
}

func (s *Sharded) Get(ctx context.Context, organizationID, id string) (Activity, error) {
	return s.of(organizationID).Get(ctx, organizationID, id)
}

func (s *Sharded) Change(ctx context.Context, organizationID string, change Change) error {
	return s.of(organizationID).Change(ctx, organizationID, atHome(change))
}

func (s *Sharded) Close() (err error) {
	for _, one := range s.stores {
		err = errors.Join(err, one.Close())
	}
	return err
}

func (s *Sharded) Replace(ctx context.Context, activity Activity, now time.Time, change Change) error {
	activity.Sent = cmp.Or(activity.Sent, forever) // so that the store looks at the head
	return s.of(activity.OrganizationID).Replace(ctx, activity, now, change)
}

func (s *Sharded) Find(ctx context.Context, organizationID string, fingerprint Fingerprint) (Activity, error) {
	return s.of(organizationID).Find(ctx, organizationID, fingerprint)
}

func (s *Sharded) Waiting(ctx context.Context) (waiting []Activity, err error) {
	answers, err := available(s, func(one Full) ([]Activity, error) { return one.Waiting(ctx) })
	for _, from := range answers {
		elsewhere := func(a Activity) bool { return s.of(a.OrganizationID) != from.of }
		waiting = append(waiting, slices.DeleteFunc(from.value, elsewhere)...)
	}
	return waiting, err
}

func (s *Sharded) List(ctx context.Context, organizationID string, filter Filter) ([]Activity, error) {
	return s.of(organizationID).List(ctx, organizationID, filter)
}

func (s *Sharded) Sweep(ctx context.Context, now time.Time) (sum SweepStats, err error) {
	answers, err := available(s, func(one Full) (SweepStats, error) { return one.Sweep(ctx, now) })
	for _, from := range answers {
		sum.Activities += from.value.Activities
		sum.Leases += from.value.Leases
		sum.Entries += from.value.Entries
	}
	return sum, err
}

// pingGrace is how long a store may answer a Ping later than another one: that one which hangs does
// not take so long that an orchestrator, which waits for a second, takes none to be ready.
const pingGrace = 500 * time.Millisecond

// Ping implements Pinger: it fails if no store can do its work. Away names those that cannot.
func (s *Sharded) Ping(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers, err := available(s, func(one Full) (struct{}, error) {
		err := one.Ping(ctx)
		if err == nil {
			time.AfterFunc(pingGrace, cancel)
		}
		return struct{}{}, err
	})
	var away []string
	for name, one := range s.stores {
		if !slices.ContainsFunc(answers, func(from answer[struct{}]) bool { return from.of == one }) {
			away = append(away, cmp.Or(name, "store"))
		}
	}
	slices.Sort(away)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.away = away
	return err
}

// Away returns the names of the stores that did not answer the last Ping.
func (s *Sharded) Away() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.away
}

// Forgets implements Retention: a node that shares one of the stores cannot go by the others.
func (s *Sharded) Forgets() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(s.stores)), Full.Forgets)
}

func (s *Sharded) AppendLeaves(ctx context.Context, organizationID string, size int64,
	leaves []LogEntry) (int64, error) {
	return s.of(organizationID).AppendLeaves(ctx, organizationID, size, leaves)
}

func (s *Sharded) LogHead(ctx context.Context, organizationID string) (translog.Head, error) {
	return s.of(organizationID).LogHead(ctx, organizationID)
}

func (s *Sharded) LogHeads(ctx context.Context, organizationIDs ...string) (map[string]translog.Head, error) {
	answers, err := gather(s, func(one Full) (map[string]translog.Head, error) {
		own := slices.DeleteFunc(slices.Clone(organizationIDs), func(id string) bool { return s.of(id) != one })
		if len(own) == 0 && len(organizationIDs) > 0 {
			return nil, nil
		}
		return one.LogHeads(ctx, own...)
	})
	heads := map[string]translog.Head{}
	for _, from := range answers {
		for id, head := range from.value {
			if s.of(id) == from.of {
				heads[id] = head
			}
		}
	}
	return heads, err
}

func (s *Sharded) MarkConflict(ctx context.Context, organizationID string,
	conflict translog.Conflict) (translog.Head, error) {
	return s.of(organizationID).MarkConflict(ctx, organizationID, conflict)
}

func (s *Sharded) AcceptConflict(ctx context.Context, organizationID string,
	accepted Acceptance) (translog.Head, error) {
	return s.of(organizationID).AcceptConflict(ctx, organizationID, accepted)
}

func (s *Sharded) LogRows(ctx context.Context, organizationID string, indexes []int64) ([]translog.Row, error) {
	return s.of(organizationID).LogRows(ctx, organizationID, indexes)
}

func (s *Sharded) LogIndex(ctx context.Context, organizationID, id string) (int64, error) {
	return s.of(organizationID).LogIndex(ctx, organizationID, id)
}

func (s *Sharded) AddEvents(ctx context.Context, organizationID string, events []Event) error {
	return s.of(organizationID).AddEvents(ctx, organizationID, events)
}

// HoldOutbox implements Outbox: it takes each outbox that is free, and the lease is held if it has
// one.
func (s *Sharded) HoldOutbox(ctx context.Context, holder uint64, ttl time.Duration,
	now time.Time) (any bool, err error) {
	answers, err := available(s, func(one Full) (bool, error) { return one.HoldOutbox(ctx, holder, ttl, now) })
	held := map[Full]bool{}
	for _, from := range answers {
		held[from.of], any = from.value, any || from.value
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.held = held
	return any, err
}

func (s *Sharded) holds(one Full) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.held == nil || s.held[one]
}

// Events implements Outbox: those in the outboxes that HoldOutbox took, in all if it was not called.
func (s *Sharded) Events(ctx context.Context, most int, skip []Lane) (events []Pending, waiting Backlog, err error) {
	type page struct {
		events  []Pending
		waiting Backlog
	}
	answers, err := available(s, func(one Full) (found page, err error) {
		if s.holds(one) {
			found.events, found.waiting, err = one.Events(ctx, most, skip)
		}
		return found, err
	})
	for _, from := range answers {
		events = append(events, from.value.events...)
		waiting.Events += from.value.waiting.Events
		if oldest := from.value.waiting.Oldest; waiting.Oldest.IsZero() || !oldest.IsZero() && oldest.Before(waiting.Oldest) {
			waiting.Oldest = oldest
		}
	}
	return events, waiting, err
}

// RemoveEvents implements Outbox: from the outboxes that Events looks in, since those of an
// organization can be in any after it has moved, or if the table no longer names it.
func (s *Sharded) RemoveEvents(ctx context.Context, events []Pending) error {
	_, err := gather(s, func(one Full) (none struct{}, err error) {
		if s.holds(one) {
			err = one.RemoveEvents(ctx, events)
		}
		return none, err
	})
	return err
}

func (s *Sharded) TrimEvents(ctx context.Context, before time.Time) (first, second int, err error) {
	answers, err := available(s, func(one Full) (removed [2]int, err error) {
		removed[0], removed[1], err = one.TrimEvents(ctx, before)
		return removed, err
	})
	for _, from := range answers {
		first, second = first+from.value[0], second+from.value[1]
	}
	return first, second, err
}
