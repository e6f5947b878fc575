package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

var claim = store.Claim{OrganizationID: "org", LeaseTTL: time.Minute}

// TestAcquireAsksAgain: who waits asks for the time and the change of each try.
func TestAcquireAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		first, err := store.Acquire(t.Context(), s, claim, time.Now, nil)
		if err != nil || first.Lease == nil {
			t.Fatal(first, err)
		}
		var asked []time.Time
		change := func(now time.Time) store.Change {
			asked = append(asked, now)
			return nil
		}
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			if err := s.Release(t.Context(), *first.Lease, nil); err != nil {
				t.Error(err)
			}
		}()
		second, err := store.Acquire(t.Context(), s, claim, time.Now, change)
		if err != nil || second.Lease == nil || second.Lease.Token == first.Lease.Token {
			t.Fatalf("%+v, %v: want the next lease", second, err)
		}
		if len(asked) != 2 || !asked[0].Equal(start) || !asked[1].Equal(start.Add(time.Second)) {
			t.Errorf("the change was asked for at %v, want at once and a second later", asked)
		}
	})
}

// TestAcquireGivesUp: no lease comes with an error, whether the wait ends or
// the store is closed.
func TestAcquireGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		if begun, err := store.Acquire(t.Context(), s, claim, time.Now, nil); err != nil || begun.Lease == nil {
			t.Fatal(begun, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun, err := store.Acquire(ctx, s, claim, time.Now, nil)
		if !errors.Is(err, context.DeadlineExceeded) || begun.Lease != nil || begun.Recorded != nil || begun.Wait != nil {
			t.Errorf("%+v, %v: want the context's error alone", begun, err)
		}
		testenv.Must(t, s.Close())
		if begun, err := store.Acquire(t.Context(), s, claim, time.Now, nil); !errors.Is(err, store.ErrClosed) || begun.Lease != nil {
			t.Errorf("%+v, %v: want ErrClosed", begun, err)
		}
	})
}
