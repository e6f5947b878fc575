package storetest

import (
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// slotted are amounts with a slot.
func slotted(slot string, amount, most int64) []store.Charge {
	list := amounts("x", amount, most)
	list[0].Slot = slot
	return list
}

// refund releases a lease before anything was signed.
func (b *bench) refund(lease store.Lease, body string, list []store.Charge) {
	b.t.Helper()
	b.noError(b.Release(b.t.Context(), lease, b.charges(body, list).Refund(b.now, nil)))
}

// slotLargest checks that the charges of a slot exclude each other, and nothing else.
func slotLargest(b *bench) {
	b.ttl = time.Minute
	b.mustCharge("a", slotted("nonce 1", 6, 10))
	b.mustCharge("a bumped", slotted("nonce 1", 8, 10))
	b.mustCharge("a bumped less", slotted("nonce 1", 7, 10))
	b.spent("x", 8)
	_, err := b.charged(b.Store, "another slot", slotted("nonce 2", 3, 10))
	b.same(true, b.over(err, "x", 2).RetryAfter > 0)
	_, err = b.charged(b.Store, "no slot", amounts("x", 3, 10))
	_ = b.over(err, "x", 2)
	b.mustCharge("b", slotted("nonce 2", 2, 10))
	_, err = b.charged(b.Store, "a bumped beyond", slotted("nonce 1", 9, 10))
	_ = b.over(err, "x", 8)
	other := slotted("nonce 1", 10, 10)
	other[0].Subject = "another key"
	b.mustCharge("c", other)
	b.spent("x", 10)
}

// slotsOfList checks a request that charges one limit for several slots: their sum counts, each
// against what its slot has counted.
func slotsOfList(b *bench) {
	b.ttl = time.Minute
	list := func(first, second, none int64) []store.Charge {
		return slices.Concat(slotted("nonce 1", first, 10), slotted("nonce 2", second, 10), amounts("x", none, 10))
	}
	b.mustCharge("before", slotted("nonce 1", 4, 10))
	b.mustCharge("list", list(3, 5, 1)) // 4, 5 and 1
	b.spent("x", 10)
	_, err := b.charged(b.Store, "one over", list(4, 6, 0))
	_ = b.over(err, "x", 9)
	b.mustCharge("the same nonces", list(4, 5, 0))
	b.spent("x", 10)
	_, err = b.charged(b.Store, "never fits", list(4, 7, 0))
	b.same(time.Duration(0), b.over(err, "x", 9).RetryAfter)
	b.refund(b.mustCharge("again", list(4, 5, 0)), "again", list(4, 5, 0))
	b.spent("x", 10)
}

// slotRefunded checks that a bump that was refunded leaves what was signed before it.
func slotRefunded(b *bench) {
	b.ttl = time.Minute
	first := b.mustCharge("a", slotted("nonce 1", 6, 10))
	b.complete(first, "a")
	larger := b.mustCharge("larger", slotted("nonce 1", 9, 10))
	smaller := b.mustCharge("smaller", slotted("nonce 1", 2, 10))
	other := b.mustCharge("other", slotted("nonce 2", 1, 10)) // at the same time
	b.spent("x", 10)
	b.refund(larger, "larger", slotted("nonce 1", 9, 10))
	b.spent("x", 7)
	b.refund(smaller, "smaller", slotted("nonce 1", 2, 10))
	b.refund(other, "other", slotted("nonce 2", 1, 10))
	b.spent("x", 6)
	_, err := b.charged(b.Store, "b", slotted("nonce 2", 5, 10))
	_ = b.over(err, "x", 4)
	same := b.mustCharge("equal", slotted("nonce 1", 6, 10))
	b.refund(same, "equal", slotted("nonce 1", 6, 10))
	b.spent("x", 6)
}

// slotTakenOver checks that the next process charges only what was not charged before, and
// that a request does not compete with itself.
func slotTakenOver(b *bench) {
	first := b.mustCharge("a", slotted("nonce 1", 6, 10))
	b.pass(b.ttl + time.Millisecond)
	b.ttl = time.Minute
	second := b.mustCharge("a", slotted("nonce 1", 6, 10))
	b.spent("x", 6)
	b.is(b.Release(b.t.Context(), first, b.charges("a", slotted("nonce 1", 6, 10)).Refund(b.now, nil)),
		store.ErrLeaseLost)
	b.spent("x", 6)
	b.mustCharge("bump", slotted("nonce 1", 8, 10))
	for body, want := range map[string]int64{"a": 8, "bump": 6, "c": 8} {
		b.noError(b.Change(b.t.Context(), organization, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
			count, err := store.CountOfOthers(ledger, fingerprint(body), amounts("x", 0, 0)[0], b.now)
			if err == nil {
				sum, _ := count.Spent(amounts("x", 0, 0)[0])
				b.same(big.NewInt(want).String(), sum.String())
			}
			return nil, err
		})))
	}
	confirm := b.charges("a", slotted("nonce 1", 6, 10)).Confirm(b.now, nil)
	b.noError(b.Complete(b.t.Context(), second, b.activity("a"), confirm))
	more := b.charges("a", slotted("nonce 1", 7, 10)).Confirm(b.now, nil)
	b.is(b.Complete(b.t.Context(), b.lease("a later one"), b.activity("a later one"), more), store.ErrUncharged)
}

// slotMany charges a slot and other amounts more often than a tally keeps exact amounts. The
// charges of the slot are not merged: the largest counts, and each can be refunded.
func slotMany(b *bench) {
	b.ttl = time.Minute
	most := int64(1 << 40)
	count := 1001
	if testing.Short() {
		count = 101 // a store on a disk waits for it at each
	}
	largest := int64(99 + count)
	leases := make([]store.Lease, count)
	for i := range count {
		leases[i] = b.mustCharge(fmt.Sprint("bump ", i), slotted("nonce 1", int64(100+i), most))
	}
	b.spent("x", largest)
	b.refund(leases[count-1], fmt.Sprint("bump ", count-1), slotted("nonce 1", largest, most))
	b.spent("x", largest-1)
	b.refund(leases[count/2], fmt.Sprint("bump ", count/2), slotted("nonce 1", int64(100+count/2), most))
	b.spent("x", largest-1)
	b.mustCharge("other", amounts("x", 1, most))
	b.spent("x", largest)
}

// slotAtOnce bumps one nonce from 64 goroutines, of which each second is refunded. What is
// counted is the largest of the others.
func slotAtOnce(b *bench) {
	b.ttl = time.Minute
	var all sync.WaitGroup
	for i := range 64 {
		body, list := fmt.Sprint("bump ", i), slotted("nonce 1", int64(1+i), 100)
		all.Go(func() {
			begun, err := b.charged(b.Store, body, list)
			if err != nil || begun.Lease == nil {
				b.t.Errorf("begin: %+v, %v", begun, err)
				return
			}
			if i%2 == 1 {
				if err := b.Release(b.t.Context(), *begun.Lease, b.charges(body, list).Refund(b.now, nil)); err != nil {
					b.t.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.spent("x", 63)
}

// slotAge checks that a slot counts its largest charge until its youngest leaves the window,
// and that a nonce that is used again afterwards is charged again.
func slotAge(b *bench) {
	b.ttl = 10 * window
	b.mustCharge("a", slotted("nonce 1", 9, 10))
	b.now = epoch.Add(window / 2)
	younger := b.mustCharge("smaller", slotted("nonce 1", 1, 10))
	b.now = epoch.Add(window + window/4)
	b.spent("x", 9)
	_, err := b.charged(b.Store, "b", slotted("nonce 2", 2, 10))
	b.same(window/4, b.over(err, "x", 1).RetryAfter)
	b.refund(younger, "smaller", slotted("nonce 1", 1, 10))
	b.spent("x", 0) // the older one has left
	b.mustCharge("again", slotted("nonce 1", 4, 10))
	b.now = b.now.Add(window - time.Millisecond)
	b.spent("x", 4)
	b.mustCharge("later", slotted("nonce 1", 3, 10))
	b.now = b.now.Add(window - time.Millisecond)
	b.spent("x", 4)
	b.now = b.now.Add(time.Millisecond)
	b.spent("x", 0)
	if b.Sweeper != nil {
		b.sweep(b.now.Add(20 * window))
		b.spent("x", 0)
	}
}
