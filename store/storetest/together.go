package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/store"
)

// runTogether sends many requests concurrently, so that a store that batches them puts
// them into one batch: each is carried out once, and an error of one does not affect the
// others.
func runTogether(t *testing.T, h Harness) {
	b := open(t, h)
	const bodies, times = 24, 3
	b.complete(b.lease("taken"), "taken")
	leases := make(chan store.Lease, bodies*times)
	b.inParallel(bodies*times, func(i int) {
		begun, err := b.Begin(t.Context(), b.longClaim(fmt.Sprint(i%bodies)), nil)
		switch {
		case err != nil:
			t.Error(err)
		case begun.Lease != nil:
			leases <- *begun.Lease
		case begun.Wait == nil:
			t.Errorf("nothing is recorded yet: %+v", begun)
		}
	})
	close(leases)
	held := map[store.Fingerprint]store.Lease{}
	for lease := range leases {
		held[lease.Fingerprint] = lease
	}
	if len(held) != bodies {
		t.Fatalf("%d of %d requests have a lease", len(held), bodies)
	}
	b.completeAtOnce(held, bodies)
	for i := range bodies {
		begun, err := b.Begin(t.Context(), b.longClaim(fmt.Sprint(i)), nil)
		if recorded := begun.Recorded != nil; err != nil || recorded != (i >= 2) {
			t.Errorf("request %d is recorded: %v, %v", i, recorded, err)
		}
	}
}

// completeAtOnce completes all but two: the first uses an id that is taken, and the
// second has lost its lease.
func (b *bench) completeAtOnce(held map[store.Fingerprint]store.Lease, bodies int) {
	b.inParallel(bodies, func(i int) {
		body := fmt.Sprint(i)
		activity, lease := b.activity(body), held[fingerprint(body)]
		switch i {
		case 0:
			activity.ID = "id of taken"
		case 1:
			lease.Token[0]++
		}
		err := b.Complete(b.t.Context(), lease, activity, nil)
		if (err != nil) != (i < 2) {
			b.t.Errorf("request %d: %v", i, err)
		}
	})
}

// longClaim is a claim whose lease does not expire during a test.
func (b *bench) longClaim(body string) store.Claim {
	claim := b.claim(body)
	claim.LeaseTTL = liveUntil.Sub(epoch)
	return claim
}

func (b *bench) inParallel(n int, do func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}
