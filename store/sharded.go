package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
)

// Sharded keeps organizations in several stores: each in the one that a table names, and those
// that it does not name in the one that has no name. No two share anything, so each store has the
// full contract for the organizations in it. While a store is unavailable, its organizations are.
//
// An organization stays in the store in which it began, unless [Move] moves it: another one would
// know nothing of its limits, used codes, live requests and log. Each store has a mark for each
// organization in it, by which nodes with different tables find out before they answer.
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

// Assign adds to the table, in which organizations that have not moved stay until the process ends:
// requests may be in flight. It adds nothing if a store that is named does not exist, or if an organization has begun
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

// claim marks an organization in the store of a name. Of two nodes that mark a new one in two stores
// at once, each finds the other's mark. Neither takes its own back, since a third node may have gone
// by it: both refuse the organization, of which nothing exists yet, until it has another id.
// From a store that it has left, an organization is not claimed: its requests are refused one by one, and
// the others served.
func (s *Sharded) claim(ctx context.Context, organization, name string) error {
	mark, err := markOf(ctx, s.stores[name], organization)
	if err != nil || hasMoved(mark) {
		return err
	}
	if err = s.elsewhere(ctx, organization, name, mark); err != nil || isHome(mark) {
		return err
	}
	unmarked := func(now []byte) bool { return !hasMoved(now) }
	begins := remark(newMark(markHome, 0, ""), unmarked)
	if err := s.stores[name].Change(ctx, organization, begins); err != nil {
		return err
	}
	return s.elsewhere(ctx, organization, name, nil)
}

// elsewhere returns ErrElsewhere if another store than the one of the name has the organization's
// mark or, from a node without marks, anything of it. With a mark here,
// it may have moved on from others before.
func (s *Sharded) elsewhere(ctx context.Context, organization, name string, here []byte) error {
	for other, in := range s.stores {
		if other == name {
			continue
		}
		mark, err := markOf(ctx, in, organization)
		found := len(mark) > 0
		switch {
		case len(here) > 0 && hasMoved(mark) && movesOf(mark) <= movesOf(here):
			continue
		case err == nil && !found:
			found, err = begun(ctx, in, organization)
		}
		if err != nil {
			return err
		}
		if found {
			state := ""
			if hasMoved(mark) {
				state = ", on its way: let 'countersign store move' finish"
			}
			return fmt.Errorf("%w: %q in %s, and not in %s%s",
				ErrElsewhere, organization, described(other), described(name), state)
		}
	}
	return nil
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
