package store

import (
	"cmp"
	"math/big"
	"slices"
	"time"
)

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

// besides returns what is counted beside a charge of an amount, the oldest first. Of the
// charge's own slot, that is by how much the largest amount exceeds the charge: the tally
// would have counted the sum and the amount.
func (t *tally) besides(slot [32]byte, amount *big.Int) []count {
	if len(t.slots) == 0 {
		return t.counts
	}
	all := slices.Clone(t.counts)
	for of, counted := range t.held() {
		if of == slot {
			counted.amount = new(big.Int).Sub(counted.amount, amount)
		}
		if counted.amount.Sign() > 0 {
			all = append(all, counted)
		}
	}
	slices.SortFunc(all, func(a, b count) int { return cmp.Compare(a.at, b.at) })
	return all
}

// hold adds a charge with a slot.
func (t *tally) hold(charge slotted, window time.Duration) {
	for t.slots = append(t.slots, charge); len(t.slots) > maxSlotted; {
		t.mergeSlot(window)
	}
}

// mergeSlot merges the slot that leaves the window first into a bucket.
func (t *tally) mergeSlot(window time.Duration) {
	held := t.held()
	byTime := func(a, b slotted) int { return cmp.Compare(held[a.slot].at, held[b.slot].at) }
	first := slices.MinFunc(t.slots, byTime).slot
	t.slots = slices.DeleteFunc(t.slots, func(charge slotted) bool { return charge.slot == first })
	t.add(bucketEnd(held[first].at, window), held[first].amount, window)
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
