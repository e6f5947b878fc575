package storetest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/store"
)

func runLeases(t *testing.T, h Harness) {
	for name, test := range map[string]func(*bench){
		"completed activities are found":             completedIsFound,
		"somebody else's lease is waited for":        busyThenRecorded,
		"what is recorded can be asked for":          recordedWithoutLease,
		"a released lease can be taken":              releasedCanBeTaken,
		"waiting ends with the context":              waitEndsWithContext,
		"a lease runs out":                           leaseRunsOut,
		"waiting ends when the lease runs out":       waitEndsWithLease,
		"a lost lease completes nothing":             lostLease,
		"a released lease is no lease":               releasedLease,
		"a lease that nobody took is good enough":    lateButFirst,
		"a renewed lease lasts":                      renewedLease,
		"a completed lease is over":                  completedLease,
		"organizations are separate":                 walls,
		"an ended context does nothing":              endedContext,
		"a hundred of the same do one piece of work": sameAtOnce,
		"work that fails is taken over":              workIsTakenOver,
		"an id is taken once":                        idTwice,
		"large records":                              largeRecord,
		"ids that nobody has":                        oddIDs,
	} {
		t.Run(name, func(t *testing.T) {
			h.atOnce(t)
			test(open(t, h))
		})
	}
}

func completedIsFound(b *bench) {
	lease := b.lease("a")
	if _, err := b.Get(b.t.Context(), organization, b.activity("a").ID); !errors.Is(err, store.ErrNotFound) {
		b.t.Fatalf("an activity is found before it is completed: %v", err)
	}
	b.complete(lease, "a")
	got, err := b.Get(b.t.Context(), organization, b.activity("a").ID)
	b.noError(err)
	b.same(b.activity("a"), got)
	b.recorded()
	b.lease("b")
}

// recordedWithoutLease asks before, while and after the work is done, with a claim that is
// live and one that is not. No answer takes the lease.
func recordedWithoutLease(b *bench) {
	b.ttl = time.Minute
	ask := func(want *store.Activity) {
		b.t.Helper()
		old := b.claim("a")
		old.LiveUntil = b.now.Add(-time.Hour)
		for _, claim := range []store.Claim{b.claim("a"), old} {
			got, err := store.Recorded(b.t.Context(), b.Store, claim)
			b.noError(err)
			b.same(want, got)
		}
	}
	ask(nil)
	lease := b.lease("a")
	ask(nil)
	b.complete(lease, "a")
	done := b.activity("a")
	ask(&done)
}

func busyThenRecorded(b *bench) {
	b.ttl = time.Minute
	lease := b.lease("a")
	wait := b.busy()
	woken := make(chan error, 1)
	go func() { woken <- wait(b.t.Context()) }()
	b.complete(lease, "a")
	b.noError(b.soon(woken))
	b.recorded()
}

func releasedCanBeTaken(b *bench) {
	b.ttl = time.Minute
	first := b.lease("a")
	wait := b.busy()
	b.noError(b.Release(b.t.Context(), first, nil))
	b.noError(wait(b.t.Context()))
	second := b.lease("a")
	if second.Token == first.Token {
		b.t.Fatalf("token %x was issued twice", second.Token)
	}
}

func waitEndsWithContext(b *bench) {
	b.ttl = time.Minute
	b.lease("a")
	wait := b.busy()
	ctx, cancel := context.WithCancel(b.t.Context())
	woken := make(chan error, 1)
	go func() { woken <- wait(ctx) }()
	cancel()
	if err := b.soon(woken); !errors.Is(err, context.Canceled) {
		b.t.Fatalf("waiting ended with %v", err)
	}
}

func leaseRunsOut(b *bench) {
	first := b.lease("a")
	if b.h.OwnClock { // a busy machine may be later than the lease lasts
		b.pass(b.ttl)
		b.ttl = time.Minute
	} else {
		b.now = epoch.Add(b.ttl - 1)
		b.busy()
		b.now = epoch.Add(b.ttl)
	}
	second := b.lease("a")
	if second.Token == first.Token {
		b.t.Fatalf("token %x was issued twice", second.Token)
	}
	b.busy()
}

func waitEndsWithLease(b *bench) {
	var begun store.BeginResult
	var started, next time.Time
	for begun.Wait == nil { // again while a busy machine comes later than the lease lasts
		started, next = next, time.Now()
		begun = b.begin("a")
	}
	woken := make(chan error, 1)
	go func() { woken <- begun.Wait(b.t.Context()) }()
	b.noError(b.soon(woken))
	if waited := time.Since(started); waited < b.ttl/2 {
		b.t.Fatalf("waited %v for a lease of %v", waited, b.ttl)
	}
}

func lostLease(b *bench) {
	first := b.lease("a")
	b.pass(b.ttl + time.Millisecond)
	b.ttl = time.Minute
	second := b.lease("a")
	b.lost(first)
	b.busy()
	b.complete(second, "a")
	b.lost(first)
	b.recorded()
}

// lost checks that a lease on the body a is refused.
func (b *bench) lost(lease store.Lease) {
	b.t.Helper()
	late := b.activity("a")
	late.ID, late.Data = "late", []byte("late")
	if err := b.Complete(b.t.Context(), lease, late, nil); !errors.Is(err, store.ErrLeaseLost) {
		b.t.Fatalf("Complete with a lost lease: %v", err)
	}
	if _, err := b.Renew(b.t.Context(), lease, time.Minute, b.now); !errors.Is(err, store.ErrLeaseLost) {
		b.t.Fatalf("Renew of a lost lease: %v", err)
	}
	if err := b.Release(b.t.Context(), lease, nil); !errors.Is(err, store.ErrLeaseLost) {
		b.t.Fatalf("Release of a lost lease: %v", err)
	}
	if _, err := b.Get(b.t.Context(), organization, "late"); !errors.Is(err, store.ErrNotFound) {
		b.t.Fatalf("a record completed under a lost lease is found: %v", err)
	}
}

func releasedLease(b *bench) {
	b.ttl = time.Minute
	first := b.lease("a")
	b.noError(b.Release(b.t.Context(), first, nil))
	b.lost(first)
	second := b.lease("a") // whose token must not be the first one's again
	b.lost(first)
	b.complete(second, "a")
}

func lateButFirst(b *bench) {
	lease, twice := b.lease("a"), b.lease("b")
	b.pass(2 * b.ttl)
	twice, err := b.Renew(b.t.Context(), twice, b.ttl, b.now)
	b.noError(err)
	b.pass(2 * b.ttl)
	b.complete(twice, "b")
	renewed, err := b.Renew(b.t.Context(), lease, time.Minute, b.now)
	b.noError(err)
	b.busy()
	b.complete(renewed, "a")
	b.recorded()
}

func renewedLease(b *bench) {
	lease := b.lease("a")
	renewed, err := b.Renew(b.t.Context(), lease, time.Minute, b.now)
	b.noError(err)
	if renewed.Token != lease.Token || !renewed.Until.After(lease.Until) {
		b.t.Fatalf("renewed %+v to %+v", lease, renewed)
	}
	b.pass(2 * b.ttl)
	b.busy()
	b.complete(lease, "a")
}

func completedLease(b *bench) {
	lease := b.lease("a")
	b.complete(lease, "a")
	b.lost(lease)
	b.recorded()
}

func walls(b *bench) {
	b.ttl = time.Minute
	mine := b.lease("a")
	theirs := b.claim("a")
	theirs.OrganizationID = "another"
	begun, err := b.Begin(b.t.Context(), theirs, nil)
	b.noError(err)
	if begun.Lease == nil {
		b.t.Fatalf("the lease of another organization blocks this one: %+v", begun)
	}
	b.complete(mine, "a")
	if _, err := b.Get(b.t.Context(), "another", b.activity("a").ID); !errors.Is(err, store.ErrNotFound) {
		b.t.Fatalf("another organization finds the record: %v", err)
	}
	stolen := *begun.Lease
	stolen.OrganizationID = organization
	b.lost(stolen)
	b.noError(b.Complete(b.t.Context(), *begun.Lease, b.activity("a"), nil)) // same id, other side of the wall
	got, err := b.Get(b.t.Context(), "another", b.activity("a").ID)
	b.noError(err)
	if got.OrganizationID != "another" {
		b.t.Fatalf("the activity is of %q", got.OrganizationID)
	}
}

func endedContext(b *bench) {
	lease := b.lease("a")
	ctx, cancel := context.WithCancel(b.t.Context())
	cancel()
	_, beginErr := b.Begin(ctx, b.claim("b"), nil)
	_, renewErr := b.Renew(ctx, lease, time.Minute, b.now)
	_, getErr := b.Get(ctx, organization, "id")
	answers := map[string]error{
		"Begin": beginErr, "Renew": renewErr, "Get": getErr,
		"Complete": b.Complete(ctx, lease, b.activity("a"), nil),
		"Release":  b.Release(ctx, lease, nil),
	}
	if b.Sweeper != nil {
		_, answers["Sweep"] = b.Sweep(ctx, b.now)
	}
	if b.Pinger != nil {
		answers["Ping"] = b.Ping(ctx)
	}
	for call, err := range answers {
		if !errors.Is(err, context.Canceled) {
			b.t.Errorf("%s with a cancelled context: %v", call, err)
		}
	}
	b.complete(lease, "a")
}

// sameAtOnce sends the same body from a hundred goroutines.
func sameAtOnce(b *bench) {
	b.ttl = time.Minute
	work := sameBodyAtOnce(b, 100, func(int) store.Store { return b.Store })
	if work != 1 {
		b.t.Fatalf("the work was done %d times", work)
	}
}

// sameBodyAtOnce acquires one body n times concurrently, and returns how often the work
// was done. All other callers must get the record.
func sameBodyAtOnce(b *bench, n int, node func(i int) store.Store) int {
	var work atomic.Int32
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			s := node(i)
			begun, err := store.Acquire(b.t.Context(), s, b.claim("a"), func() time.Time { return b.now }, nil)
			if err != nil {
				b.t.Error(err)
				return
			}
			if begun.Lease != nil {
				work.Add(1)
				time.Sleep(20 * time.Millisecond)
				err = s.Complete(b.t.Context(), *begun.Lease, b.activity("a"), nil)
			} else if string(begun.Recorded.Data) != string(b.activity("a").Data) {
				b.t.Errorf("given another record: %q", begun.Recorded.Data)
			}
			if err != nil {
				b.t.Error(err)
			}
		})
	}
	all.Wait()
	b.recorded()
	return int(work.Load())
}

// workIsTakenOver lets the first nine holders fail.
func workIsTakenOver(b *bench) {
	b.ttl = time.Minute
	var work, done atomic.Int32
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			begun, err := store.Acquire(b.t.Context(), b.Store, b.claim("a"), func() time.Time { return b.now }, nil)
			switch {
			case err != nil:
			case begun.Lease == nil:
			case work.Add(1) < 10:
				err = b.Release(b.t.Context(), *begun.Lease, nil)
			default:
				done.Add(1)
				err = b.Complete(b.t.Context(), *begun.Lease, b.activity("a"), nil)
			}
			if err != nil {
				b.t.Error(err)
			}
		})
	}
	all.Wait()
	if work.Load() != 10 || done.Load() != 1 {
		b.t.Fatalf("%d began and %d completed; 10 and 1 were expected", work.Load(), done.Load())
	}
}

func idTwice(b *bench) {
	b.complete(b.lease("a"), "a")
	lease := b.lease("b")
	twin := b.activity("b")
	twin.ID = b.activity("a").ID
	if err := b.Complete(b.t.Context(), lease, twin, nil); err == nil || errors.Is(err, store.ErrLeaseLost) {
		b.t.Fatalf("an id that is taken: %v", err)
	}
	b.recorded()
	b.complete(lease, "b")
}

func largeRecord(b *bench) {
	lease := b.lease("a")
	large := b.activity("a")
	large.Data = make([]byte, 3<<20)
	for i := range large.Data {
		large.Data[i] = byte(i * 7 >> 3)
	}
	b.noError(b.Complete(b.t.Context(), lease, large, nil))
	got, err := b.Get(b.t.Context(), organization, large.ID)
	b.noError(err)
	b.same(true, bytes.Equal(large.Data, got.Data)) // a difference would take long to print
}

// soon receives from a channel, or fails after a while.
func (b *bench) soon(answer <-chan error) error {
	b.t.Helper()
	select {
	case err := <-answer:
		return err
	case <-time.After(5 * time.Minute):
		b.t.Fatal("still waiting after five minutes")
		return nil
	}
}

// oddIDs asks for ids that no activity can have: they are not found, and that is not an
// error of the store.
func oddIDs(b *bench) {
	b.complete(b.lease("a"), "a")
	for _, id := range []string{"", "\x00", "a\x00b", "\xff\xfe", "%", "id of a ", "ID OF A", "' OR 1=1 --",
		strings.Repeat("x", 1<<20)} {
		if _, err := b.Get(b.t.Context(), organization, id); !errors.Is(err, store.ErrNotFound) {
			b.t.Errorf("id %.20q: %v", id, err)
		}
		if _, err := b.Get(b.t.Context(), id, b.activity("a").ID); !errors.Is(err, store.ErrNotFound) {
			b.t.Errorf("organization %.20q: %v", id, err)
		}
	}
}
