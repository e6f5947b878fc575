package store

import (
	"cmp"
	"math/big"
	"slices"
	"time"
)

// A tally keeps up to maxExact amounts to the millisecond. Beyond that they are merged
// into buckets of a 64th of the window, each counted as if charged at the end of its
// bucket, so that a sum is never too low.
const (
	maxExact = 1000
	buckets  = 64
)

// tally is how much of a limit one subject has used.
type tally struct {
	last   int64 // milliseconds since the epoch; never decreases
	counts []count
	slots  []slotted // in the order of their charges
}

// count is an amount and when it was charged.
type count struct {
	at     int64 // milliseconds since the epoch
	amount *big.Int
}

// prune removes the amounts that have left the window.
func (t *tally) prune(now int64, window time.Duration) {
	left := func(counted count) bool { return counted.at <= now-window.Milliseconds() }
	t.counts = slices.DeleteFunc(t.counts, left)
	if len(t.slots) > 0 {
		held := t.held()
		t.slots = slices.DeleteFunc(t.slots, func(counted slotted) bool { return left(held[counted.slot]) })
	}
}

func (t *tally) empty() bool { return len(t.counts) == 0 && len(t.slots) == 0 }

func sumOf(counts []count) *big.Int {
	sum := new(big.Int)
	for _, counted := range counts {
		sum.Add(sum, counted.amount)
	}
	return sum
}

// spent returns what is counted at a time without what a charge replaces, and when the
// first of it leaves the window.
func (t *tally) spent(charge *Charge, at int64) (sum *big.Int, frees time.Time) {
	t.prune(at, charge.Window)
	amount := charge.Amount
	if amount == nil {
		amount = new(big.Int)
	}
	others := t.besides(charge.slot(), amount)
	if len(others) > 0 {
		frees = time.UnixMilli(others[0].at).Add(charge.Window).UTC()
	}
	return sumOf(others), frees
}

// charge counts an amount, which may have a slot.
func (t *tally) charge(slot [32]byte, at int64, amount *big.Int, window time.Duration) {
	if slot == ([32]byte{}) {
		t.add(at, amount, window)
		return
	}
	t.hold(slotted{slot, count{at, amount}}, window)
}

// latest returns the time of the youngest amount; 0 if there is none.
func (t *tally) latest() (at int64) {
	for _, counted := range t.counts {
		at = max(at, counted.at)
	}
	for _, counted := range t.slots {
		at = max(at, counted.at)
	}
	return at
}

// refund takes back what a charge of a receipt added.
func (t *tally) refund(made *charge) {
	if made.slot == ([32]byte{}) {
		t.remove(made.at, made.amount, made.window)
		return
	}
	t.leave(made.slot, made.at, made.amount)
}

// add counts an amount. The counts stay sorted by time.
func (t *tally) add(at int64, amount *big.Int, window time.Duration) {
	t.insert(at, amount)
	if len(t.counts) <= maxExact {
		return
	}
	before := t.counts
	t.counts = nil
	for _, counted := range before {
		t.insert(bucketEnd(counted.at, window), counted.amount)
	}
}

func (t *tally) insert(at int64, amount *big.Int) {
	i, there := t.find(at)
	if there {
		t.counts[i].amount = new(big.Int).Add(t.counts[i].amount, amount)
		return
	}
	t.counts = slices.Insert(t.counts, i, count{at, amount})
}

func (t *tally) find(at int64) (int, bool) {
	return slices.BinarySearchFunc(t.counts, at,
		func(counted count, at int64) int { return cmp.Compare(counted.at, at) })
}

// remove takes back an amount that was added at a time, from there or from the bucket
// into which it was merged since.
func (t *tally) remove(at int64, amount *big.Int, window time.Duration) {
	for _, at := range [...]int64{at, bucketEnd(at, window)} {
		i, there := t.find(at)
		if there && t.counts[i].amount.Cmp(amount) >= 0 {
			t.counts[i].amount = new(big.Int).Sub(t.counts[i].amount, amount)
			return
		}
	}
}

// bucketEnd rounds a time up to the end of its bucket.
func bucketEnd(at int64, window time.Duration) int64 {
	length := (window.Milliseconds() + buckets - 1) / buckets
	return (at + length - 1) / length * length
}

// free returns how long it takes until an amount fits, as the others expire, the oldest
// first.
func free(others []count, now int64, charge *Charge, amount *big.Int) time.Duration {
	over := new(big.Int).Add(sumOf(others), amount)
	over.Sub(over, charge.Max)
	for _, counted := range others {
		if over.Sub(over, counted.amount); over.Sign() <= 0 {
			return time.Duration(counted.at+charge.Window.Milliseconds()-now) * time.Millisecond
		}
	}
	return 0
}
