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

func sumOf(counts []count) *big.Int {
	sum := new(big.Int)
	for _, counted := range counts {
		sum.Add(sum, counted.amount)
	}
	return sum
}

// charge counts an amount, which may have a slot.
func (t *tally) charge(slot [32]byte, at int64, amount *big.Int, window time.Duration) {
	if slot == ([32]byte{}) {
		t.add(at, amount, window)
		return
	}
	t.slots = append(t.slots, slotted{slot, count{at, amount}})
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

func bucketEnd(at int64, window time.Duration) int64 {
	length := (window.Milliseconds() + buckets - 1) / buckets
	return (at + length - 1) / length * length
}

// free returns how long it takes until an amount fits, as the others expire, the oldest first.
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

// maxSlotted is how many charges with slots a tally keeps: 60 bytes each. Beyond that, the
// slots that leave first are merged into buckets. A merged slot still counts its largest
// charge. A further charge of it then counts in full, and a refund gives nothing back, so
// that a sum is never too low.
const maxSlotted = 10_000

// slotted is a charge with a slot.
type slotted struct {
	slot [32]byte
	count
}

// held returns what each slot counts: its largest amount, at the time of its youngest charge.
func (t *tally) held() map[[32]byte]count {
	held := make(map[[32]byte]count, len(t.slots))
	for _, charge := range t.slots {
		largest, ok := held[charge.slot]
		if !ok || largest.amount.Cmp(charge.amount) < 0 {
			largest.amount = charge.amount
		}
		largest.at = max(largest.at, charge.at)
		held[charge.slot] = largest
	}
	return held
}

// besides returns what is counted beside charges of some amounts, by slot, the oldest first. Of
// their own slots, that is by how much the largest amount exceeds the charge: the tally would have
// counted the sum and the amounts.
func (t *tally) besides(more map[[32]byte]*big.Int) []count {
	if len(t.slots) == 0 {
		return t.counts
	}
	all := slices.Clone(t.counts)
	for of, counted := range t.held() {
		if amount := more[of]; amount != nil {
			counted.amount = new(big.Int).Sub(counted.amount, amount)
		}
		if counted.amount.Sign() > 0 {
			all = append(all, counted)
		}
	}
	slices.SortFunc(all, func(a, b count) int { return cmp.Compare(a.at, b.at) })
	return all
}

// mergeSlots merges the slots that leave the window first into buckets, as many as are too many.
func (t *tally) mergeSlots(window time.Duration) {
	if len(t.slots) <= maxSlotted {
		return
	}
	held := t.held()
	byTime := func(a, b slotted) int { return cmp.Compare(held[a.slot].at, held[b.slot].at) }
	for _, oldest := range slices.SortedStableFunc(slices.Values(t.slots), byTime) {
		if len(t.slots) <= maxSlotted {
			return
		}
		counted, there := held[oldest.slot]
		if !there {
			continue
		}
		delete(held, oldest.slot)
		t.slots = slices.DeleteFunc(t.slots, func(charge slotted) bool { return charge.slot == oldest.slot })
		t.add(bucketEnd(counted.at, window), counted.amount, window)
	}
}

// leave takes back one charge with a slot, unless its slot was merged since.
func (t *tally) leave(slot [32]byte, at int64, amount *big.Int) {
	i := slices.IndexFunc(t.slots, func(charge slotted) bool {
		return charge.slot == slot && charge.at == at && charge.amount.Cmp(amount) == 0
	})
	if i >= 0 {
		t.slots = slices.Delete(t.slots, i, i+1)
	}
}
