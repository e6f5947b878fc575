package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"
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

// ErrElsewhere says that an organization has begun in another store than the one that the table names.
var ErrElsewhere = errors.New("store: an organization stays in the store in which it has begun")

// Assign adds to the table, in which organizations stay until the process ends: requests may be in
// flight. It adds nothing if a store that is named does not exist, or if an organization has begun
// in another one. Stores are asked about what is new only.
func (s *Sharded) Assign(ctx context.Context, table map[string]string) error {
	var claims sync.WaitGroup
	inForce, slots, failed := *s.table.Load(), make(chan struct{}, 32), make(chan error, len(table))
	for organization, name := range table {
		if s.stores[name] == nil {
			return fmt.Errorf("store: organization %q is in the store %q: there is none of this name",
				organization, name)
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
var home = Key{Kind: kindHome}

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
			return fmt.Errorf("%w: %q in %s, and not in %s",
				ErrElsewhere, organization, described(other), described(name))
		}
	}
	return nil
}

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
