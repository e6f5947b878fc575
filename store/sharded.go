package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/translog"
)

// Sharded keeps organizations in several stores: each in the one that a table names, and those
// that it does not name in the one that has no name. No two share anything, so each store has the
// full contract for the organizations in it. While a store is unavailable, its organizations are.
//
// An organization stays in the store in which it began: another one would know nothing of its
// limits, used codes, live requests and log. Each store has a mark for each organization in it,
// by which nodes with different tables find out before they answer.
type Sharded struct {
	stores map[string]Full
	table  atomic.Pointer[map[string]string]
	mutex  sync.Mutex
	away   []string      // the stores that did not answer the last Ping
	held   map[Full]bool // the outboxes that the last HoldOutbox took
}

// NewSharded returns a store over stores by their names, one of them "". The table names the store
// of each organization: see Assign.
func NewSharded(ctx context.Context, stores map[string]Full, table map[string]string) (*Sharded, error) {
	s := &Sharded{stores: stores}
	s.table.Store(&map[string]string{})
	if stores[""] == nil {
		return nil, errors.New("store: no store without a name, for organizations that the table does not name")
	}
	return s, s.Assign(ctx, table)
}

// ErrElsewhere: an organization has begun in another store than the one that the table names.
var ErrElsewhere = errors.New("store: an organization stays in the store in which it has begun")

// Assign adds to the table, in which organizations stay until the process ends: requests may be in
// flight. It adds nothing if a store that is named does not exist, or if an organization has begun
// in another one. Stores are asked about what is new only.
func (s *Sharded) Assign(ctx context.Context, table map[string]string) error {
	var claims sync.WaitGroup
	inForce, slots, failed := *s.table.Load(), make(chan struct{}, 32), make(chan error, len(table))
	for organization, name := range table {
		if s.stores[name] == nil {
			return fmt.Errorf("store: organization %q is in the store %q: there is none of this name", organization, name)
		}
	}
	for organization, name := range table {
		if known, ok := inForce[organization]; ok && known == name {
			continue
		}
		slots <- struct{}{}
		claims.Go(func() {
			failed <- s.claim(ctx, organization, name)
			<-slots
		})
	}
	claims.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return err
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	next := maps.Clone(*s.table.Load()) // to which a reload that was given up may have added since
	maps.Copy(next, table)
	s.table.Store(&next)
	return nil
}

// home is the mark of an organization in its store.
var home = Key{Kind: KindHome}

// forever is until when the mark is kept.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// claim marks an organization in the store of a name. Of two nodes that mark a new one in two stores
// at once, each finds the other's mark. Neither takes its own back, since a third node may have gone
// by it: both refuse the organization, of which nothing exists yet, until it has another id.
func (s *Sharded) claim(ctx context.Context, organization, name string) error {
	marked, err := marks(ctx, s.stores[name], organization, false)
	if err == nil {
		err = s.elsewhere(ctx, organization, name)
	}
	if err != nil || marked {
		return err
	}
	if _, err := marks(ctx, s.stores[name], organization, true); err != nil {
		return err
	}
	return s.elsewhere(ctx, organization, name)
}

// marks reports whether an organization is marked in a store, and marks it if that is wanted.
func marks(ctx context.Context, in Full, organization string, mark bool) (marked bool, err error) {
	err = in.Change(ctx, organization, ChangeFunc(func(ledger Ledger) (refusal, err error) {
		entry, err := ledger.Read(home)
		marked = len(entry.Value) > 0
		if err == nil && mark {
			_, err = ledger.Lock(home)
		}
		if err == nil && mark {
			err = ledger.Write(home, Entry{[]byte{1}, forever})
		}
		return nil, err
	}))
	return marked, err
}

// elsewhere returns ErrElsewhere if another store than the one of the name has the organization's
// mark or, from a node without marks, anything of it.
func (s *Sharded) elsewhere(ctx context.Context, organization, name string) error {
	for other, in := range s.stores {
		if other == name {
			continue
		}
		found, err := marks(ctx, in, organization, false)
		if err == nil && !found {
			found, err = begun(ctx, in, organization)
		}
		if err != nil {
			return err
		}
		if found {
			return fmt.Errorf("%w: %q in %s, and not in %s", ErrElsewhere, organization, described(other), described(name))
		}
	}
	return nil
}

// described names a store.
func described(name string) string {
	if name == "" {
		return "the store without a name"
	}
	return fmt.Sprintf("the store %q", name)
}

// begun reports whether a store has a log or an activity of an organization.
func begun(ctx context.Context, in Full, organization string) (bool, error) {
	head, err := in.LogHead(ctx, organization)
	if err != nil || head.Size > 0 || head.Marked() {
		return err == nil, err
	}
	activities, err := in.List(ctx, organization, Filter{Limit: 1})
	return len(activities) > 0, err
}

// of returns the store of an organization.
func (s *Sharded) of(organization string) Full { return s.stores[(*s.table.Load())[organization]] }

// Each calls a function for each store, with what says whether the table has an organization in it.
func (s *Sharded) Each(do func(one Log, has func(organization string) bool)) {
	for name, one := range s.stores {
		do(one, func(organization string) bool {
			in, ok := (*s.table.Load())[organization]
			return ok && in == name
		})
	}
}

// answer is what one of the stores answered.
type answer[T any] struct {
	of    Full
	value T
}

// gather asks all stores at once.
func gather[T any](s *Sharded, ask func(one Full) (T, error)) (answers []answer[T], err error) {
	var group sync.WaitGroup
	var mutex sync.Mutex
	for _, one := range s.stores {
		group.Go(func() {
			value, failed := ask(one)
			mutex.Lock()
			defer mutex.Unlock()
			if failed == nil {
				answers = append(answers, answer[T]{one, value})
			} else {
				err = failed
			}
		})
	}
	group.Wait()
	return answers, err
}

// available is gather without the stores that fail, because they are unavailable or do not answer
// in time, unless all do.
func available[T any](s *Sharded, ask func(one Full) (T, error)) ([]answer[T], error) {
	answers, err := gather(s, ask)
	if len(answers) > 0 {
		err = nil
	}
	return answers, err
}

// Begin implements Store.
func (s *Sharded) Begin(ctx context.Context, claim Claim, change Change) (BeginResult, error) {
	return s.of(claim.OrganizationID).Begin(ctx, claim, change)
}

// Renew implements Store.
func (s *Sharded) Renew(ctx context.Context, lease Lease, ttl time.Duration, now time.Time) (Lease, error) {
	return s.of(lease.OrganizationID).Renew(ctx, lease, ttl, now)
}

// Complete implements Store.
func (s *Sharded) Complete(ctx context.Context, lease Lease, activity Activity, change Change) error {
	return s.of(lease.OrganizationID).Complete(ctx, lease, activity, change)
}

// Release implements Store.
func (s *Sharded) Release(ctx context.Context, lease Lease, change Change) error {
	return s.of(lease.OrganizationID).Release(ctx, lease, change)
}

// Get implements Store.
func (s *Sharded) Get(ctx context.Context, organizationID, id string) (Activity, error) {
	return s.of(organizationID).Get(ctx, organizationID, id)
}

// Change implements Store.
func (s *Sharded) Change(ctx context.Context, organizationID string, change Change) error {
	return s.of(organizationID).Change(ctx, organizationID, change)
}

// Close implements Store.
func (s *Sharded) Close() (err error) {
	for _, one := range s.stores {
		err = errors.Join(err, one.Close())
	}
	return err
}

// Replace implements Waiter.
func (s *Sharded) Replace(ctx context.Context, activity Activity, now time.Time, change Change) error {
	return s.of(activity.OrganizationID).Replace(ctx, activity, now, change)
}

// Find implements Waiter.
func (s *Sharded) Find(ctx context.Context, organizationID string, fingerprint Fingerprint) (Activity, error) {
	return s.of(organizationID).Find(ctx, organizationID, fingerprint)
}

// Waiting implements Waiter.
func (s *Sharded) Waiting(ctx context.Context) (waiting []Activity, err error) {
	answers, err := available(s, func(one Full) ([]Activity, error) { return one.Waiting(ctx) })
	for _, from := range answers {
		elsewhere := func(a Activity) bool { return s.of(a.OrganizationID) != from.of }
		waiting = append(waiting, slices.DeleteFunc(from.value, elsewhere)...)
	}
	return waiting, err
}

// List implements Lister.
func (s *Sharded) List(ctx context.Context, organizationID string, filter Filter) ([]Activity, error) {
	return s.of(organizationID).List(ctx, organizationID, filter)
}

// Sweep implements Sweeper.
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
	for _, one := range s.stores {
		if one.Forgets() {
			return true
		}
	}
	return false
}

// AppendLeaves implements Log.
func (s *Sharded) AppendLeaves(ctx context.Context, organizationID string, size int64,
	leaves []LogEntry) (int64, error) {
	return s.of(organizationID).AppendLeaves(ctx, organizationID, size, leaves)
}

// LogHead implements Log.
func (s *Sharded) LogHead(ctx context.Context, organizationID string) (translog.Head, error) {
	return s.of(organizationID).LogHead(ctx, organizationID)
}

// LogHeads implements Log.
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

// MarkConflict implements Log.
func (s *Sharded) MarkConflict(ctx context.Context, organizationID string,
	conflict translog.Conflict) (translog.Head, error) {
	return s.of(organizationID).MarkConflict(ctx, organizationID, conflict)
}

// AcceptConflict implements Log.
func (s *Sharded) AcceptConflict(ctx context.Context, organizationID string,
	accepted Acceptance) (translog.Head, error) {
	return s.of(organizationID).AcceptConflict(ctx, organizationID, accepted)
}

// LogRows implements Log.
func (s *Sharded) LogRows(ctx context.Context, organizationID string, indexes []int64) ([]translog.Row, error) {
	return s.of(organizationID).LogRows(ctx, organizationID, indexes)
}

// LogIndex implements Log.
func (s *Sharded) LogIndex(ctx context.Context, organizationID, id string) (int64, error) {
	return s.of(organizationID).LogIndex(ctx, organizationID, id)
}

// AddEvents implements Outbox.
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

// Events implements Outbox: those in the outboxes that HoldOutbox took, in all if it was not called.
func (s *Sharded) Events(ctx context.Context, most int, skip []Lane) (events []Pending, waiting Backlog, err error) {
	type page struct {
		events  []Pending
		waiting Backlog
	}
	s.mutex.Lock()
	held := s.held
	s.mutex.Unlock()
	answers, err := available(s, func(one Full) (found page, err error) {
		if held == nil || held[one] {
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

// RemoveEvents implements Outbox. Those of an organization that the table does not name, as it no
// longer does since a restart, can be in any store.
func (s *Sharded) RemoveEvents(ctx context.Context, events []Pending) error {
	table := *s.table.Load()
	_, err := gather(s, func(one Full) (struct{}, error) {
		own := slices.DeleteFunc(slices.Clone(events), func(event Pending) bool {
			in, ok := table[event.OrganizationID]
			return ok && s.stores[in] != one
		})
		if len(own) == 0 {
			return struct{}{}, nil
		}
		return struct{}{}, one.RemoveEvents(ctx, own)
	})
	return err
}

// TrimEvents implements Outbox.
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
