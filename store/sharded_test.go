package store_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/storetest"
	"github.com/countersign-dev/countersign/translog"
)

// sharded returns a sharded store over a store without a name and one named b.
func sharded(t testing.TB, rest, b store.Full, table map[string]string) *store.Sharded {
	t.Helper()
	opened, err := store.NewSharded(t.Context(), map[string]store.Full{"": rest, "b": b}, table)
	testenv.Must(t, err)
	return opened
}

// TestShardedContract runs the contract with the organization of most tests in either store, and
// another one in the other.
func TestShardedContract(t *testing.T) {
	const organization = "6e1f8f5e-1111-4222-8333-444455556666"
	for _, table := range []map[string]string{{organization: "b"}, {organization: "", "another": "b"}} {
		storetest.Run(t, storetest.Harness{
			Open: func(testing.TB) store.Store { return sharded(t, memory.New(0), memory.New(0), table) },
		})
	}
}

// recordIn records an activity of an organization.
func recordIn(t testing.TB, s store.Full, organization string, event *store.Event) {
	t.Helper()
	now := time.Now()
	claim := store.Claim{OrganizationID: organization, Fingerprint: sha256.Sum256([]byte(organization + rand.Text())), LeaseTTL: time.Minute, Now: now, LiveUntil: now.Add(time.Hour)}
	begun, err := s.Begin(t.Context(), claim, nil)
	testenv.Must(t, err)
	activity := store.Activity{ID: fmt.Sprintf("%x", claim.Fingerprint[:16]), KeepUntil: now.Add(time.Hour), Event: event}
	testenv.Must(t, s.Complete(t.Context(), *begun.Lease, activity, nil))
}

// TestElsewhere: an organization that has begun in one store is begun in no other one: by its mark,
// its activities or its log.
func TestElsewhere(t *testing.T) {
	rest, b := memory.New(0), memory.New(0)
	recordIn(t, rest, "recorded", nil)
	if _, err := rest.AppendLeaves(t.Context(), "logged", store.AnySize, []store.LogEntry{{ID: "leaf", Leaf: []byte("leaf")}}); err != nil {
		t.Fatal(err)
	}
	opened := sharded(t, rest, b, map[string]string{"marked": "b", "recorded": ""})
	for organization, name := range map[string]string{"recorded": "b", "logged": "b", "marked": ""} {
		table := map[string]string{"marked": "b", "recorded": "", organization: name}
		if err := opened.Assign(t.Context(), table); !errors.Is(err, store.ErrElsewhere) {
			t.Errorf("%s in %q: %v", organization, name, err)
		}
		if _, err := store.NewSharded(t.Context(), map[string]store.Full{"": rest, "b": b}, table); !errors.Is(err, store.ErrElsewhere) {
			t.Errorf("%s in %q on another node: %v", organization, name, err)
		}
	}
	// What was refused left no mark behind.
	testenv.Must(t, opened.Assign(t.Context(), map[string]string{"marked": "b", "recorded": "", "logged": "", "new": "b"}))
	if err := opened.Assign(t.Context(), map[string]string{"marked": "c"}); err == nil {
		t.Error("a store that there is not is accepted")
	}
	// An organization that the table no longer names stays where it is.
	testenv.Must(t, opened.Assign(t.Context(), map[string]string{"recorded": ""}))
	recordIn(t, opened, "marked", nil)
	if found, err := rest.List(t.Context(), "marked", store.Filter{Limit: 1}); err != nil || len(found) > 0 {
		t.Errorf("recorded elsewhere: %v, %v", found, err)
	}
}

// TestClaimedTogether: of nodes with different tables that start at once, those of one table at most
// get through.
func TestClaimedTogether(t *testing.T) {
	for range 200 {
		stores := map[string]store.Full{"": memory.New(0), "b": memory.New(0)}
		var through [2]atomic.Bool
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				if _, err := store.NewSharded(t.Context(), stores, map[string]string{"organization": []string{"", "b"}[i%2]}); err == nil {
					through[i%2].Store(true)
				}
			})
		}
		group.Wait()
		if through[0].Load() && through[1].Load() {
			t.Fatal("an organization has begun in both stores")
		}
	}
}

// broken is a store whose database is away.
type broken struct {
	store.Full
	away atomic.Bool
}

func (b *broken) fail() error {
	if b.away.Load() {
		return fmt.Errorf("%w: the database is away", store.ErrUnavailable)
	}
	return nil
}

func (b *broken) Ping(ctx context.Context) error { return errors.Join(b.fail(), b.Full.Ping(ctx)) }

func (b *broken) Begin(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	if err := b.fail(); err != nil {
		return store.BeginResult{}, err
	}
	return b.Full.Begin(ctx, claim, change)
}

func (b *broken) LogHeads(ctx context.Context, ids ...string) (map[string]translog.Head, error) {
	if err := b.fail(); err != nil {
		return nil, err
	}
	return b.Full.LogHeads(ctx, ids...)
}

func (b *broken) Waiting(ctx context.Context) ([]store.Activity, error) {
	if err := b.fail(); err != nil {
		return nil, err
	}
	return b.Full.Waiting(ctx)
}

func (b *broken) HoldOutbox(ctx context.Context, holder uint64, ttl time.Duration, now time.Time) (bool, error) {
	if err := b.fail(); err != nil {
		return false, err
	}
	return b.Full.HoldOutbox(ctx, holder, ttl, now)
}

func (b *broken) RemoveEvents(ctx context.Context, events []store.Pending) error {
	return errors.Join(b.fail(), b.Full.RemoveEvents(ctx, events))
}

// TestOneAway: while a store is away its organizations are, and no others. What is known of a log is
// never taken for an empty one, and an event that could not be removed is told.
func TestOneAway(t *testing.T) {
	b := &broken{Full: memory.New(0)}
	opened := sharded(t, memory.New(0), b, map[string]string{"here": "", "there": "b"})
	now := time.Now()
	for _, organization := range []string{"here", "there"} {
		recordIn(t, opened, organization, &store.Event{ID: "of " + organization, At: now})
	}
	if held, err := opened.HoldOutbox(t.Context(), 1, time.Hour, now); !held || err != nil {
		t.Fatal(held, err)
	}
	events, backlog, err := opened.Events(t.Context(), 10, nil)
	if err != nil || len(events) != 2 || backlog.Events != 2 {
		t.Fatalf("%d events of %d: %v", len(events), backlog.Events, err)
	}

	b.away.Store(true)
	recordIn(t, opened, "here", nil)
	claim := store.Claim{OrganizationID: "there", LeaseTTL: time.Minute, Now: now, LiveUntil: now.Add(time.Hour)}
	if _, err := opened.Begin(t.Context(), claim, nil); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("begun in a store that is away: %v", err)
	}
	if err := opened.Ping(t.Context()); err != nil || !reflect.DeepEqual(opened.Away(), []string{"b"}) {
		t.Errorf("%v, away: %q", err, opened.Away())
	}
	if _, err := opened.Waiting(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := opened.LogHeads(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("heads of all logs: %v", err)
	}
	if _, err := opened.LogHeads(t.Context(), "here"); err != nil {
		t.Errorf("heads of a log that is there: %v", err)
	}
	if err := opened.RemoveEvents(t.Context(), events); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("events removed from a store that is away: %v", err)
	}
	if held, err := opened.HoldOutbox(t.Context(), 1, time.Hour, now); !held || err != nil {
		t.Error(held, err)
	}
	// The table can change meanwhile, but for organizations that are new.
	testenv.Must(t, opened.Assign(t.Context(), map[string]string{"there": "b"}))
}

// heldBy is a store whose outbox one holder has.
type heldBy struct {
	store.Full
	holder uint64
}

func (h heldBy) HoldOutbox(_ context.Context, holder uint64, _ time.Duration, _ time.Time) (bool, error) {
	return holder == h.holder, nil
}

// TestOutboxesApart: nodes can hold the outbox of one store each, and deliver what is in it alone.
func TestOutboxesApart(t *testing.T) {
	table := map[string]string{"here": "", "there": "b"}
	rest, b := heldBy{memory.New(0), 1}, heldBy{memory.New(0), 2}
	first, other := sharded(t, rest, b, table), sharded(t, rest, b, table)
	now := time.Now()
	for organization := range table {
		recordIn(t, first, organization, &store.Event{ID: "of " + organization, At: now})
	}
	for _, node := range []struct {
		*store.Sharded
		holder uint64
		want   string
	}{{first, 1, "of here"}, {other, 2, "of there"}} {
		if held, err := node.HoldOutbox(t.Context(), node.holder, time.Hour, now); !held || err != nil {
			t.Fatal(held, err)
		}
		events, _, err := node.Events(t.Context(), 10, nil)
		if err != nil || len(events) != 1 || events[0].ID != node.want {
			t.Errorf("%+v, %v, want %s", events, err, node.want)
		}
	}
	if held, err := first.HoldOutbox(t.Context(), 3, time.Hour, now); held || err != nil {
		t.Errorf("an outbox of others is held: %v", err)
	}
}

// TestWithoutMarks: what a node that has one store only began there is found, also if the
// organization has been marked in another one since.
func TestWithoutMarks(t *testing.T) {
	rest, b := memory.New(0), memory.New(0)
	table := map[string]string{"organization": "b"}
	sharded(t, rest, b, table)
	sharded(t, rest, b, table)
	recordIn(t, rest, "organization", nil)
	if _, err := store.NewSharded(t.Context(), map[string]store.Full{"": rest, "b": b}, table); !errors.Is(err, store.ErrElsewhere) {
		t.Errorf("an organization that has begun in two stores: %v", err)
	}
}

// TestOutboxOfRemoved: the events of an organization that the table no longer names are told once.
func TestOutboxOfRemoved(t *testing.T) {
	rest, b := memory.New(0), memory.New(0)
	now := time.Now()
	recordIn(t, sharded(t, rest, b, map[string]string{"gone": "b"}), "gone", &store.Event{ID: "of gone", At: now})
	opened := sharded(t, rest, b, map[string]string{"here": ""})
	recordIn(t, opened, "here", &store.Event{ID: "of here", At: now})
	for _, want := range []int{2, 1} {
		events, _, err := opened.Events(t.Context(), 10, nil)
		if err != nil || len(events) != want {
			t.Fatalf("%d events, want %d: %v", len(events), want, err)
		}
		events = slices.DeleteFunc(events, func(event store.Pending) bool { return event.OrganizationID == "here" })
		if len(events) != want-1 {
			t.Error("an event of another organization was removed")
		}
		testenv.Must(t, opened.RemoveEvents(t.Context(), events))
	}
}

// held is a store that does not answer until it is released, or the context ends.
type held struct {
	store.Full
	released chan struct{}
}

func (h held) wait(ctx context.Context) error {
	select {
	case <-h.released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h held) Ping(ctx context.Context) error { return h.wait(ctx) }

func (h held) Change(ctx context.Context, organization string, change store.Change) error {
	if organization == "first" {
		if err := h.wait(ctx); err != nil {
			return err
		}
	}
	return h.Full.Change(ctx, organization, change)
}

// TestPingHangs: a store that does not answer takes no time from what is asked next.
func TestPingHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := sharded(t, memory.New(0), held{memory.New(0), make(chan struct{})}, nil)
		began := time.Now()
		if err := opened.Ping(t.Context()); err != nil || !reflect.DeepEqual(opened.Away(), []string{"b"}) {
			t.Errorf("%v, away: %q", err, opened.Away())
		}
		if took := time.Since(began); took > time.Second/2 {
			t.Errorf("it took %v", took)
		}
	})
}

// TestAssignedTogether: of two tables that are assigned at once none is lost, as when a reload is
// given up while it ends.
func TestAssignedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rest, b := memory.New(0), held{memory.New(0), make(chan struct{})}
		opened := sharded(t, rest, b, nil)
		first := make(chan error)
		go func() { first <- opened.Assign(t.Context(), map[string]string{"first": "b"}) }()
		synctest.Wait() // the first asks b, which does not answer
		testenv.Must(t, opened.Assign(t.Context(), map[string]string{"second": "b"}))
		close(b.released)
		testenv.Must(t, <-first)
		for _, organization := range []string{"first", "second"} {
			recordIn(t, opened, organization, nil)
			if found, err := rest.List(t.Context(), organization, store.Filter{Limit: 1}); err != nil || len(found) > 0 {
				t.Errorf("%s has begun elsewhere: %v", organization, err)
			}
		}
	})
}
