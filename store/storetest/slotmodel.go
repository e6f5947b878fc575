package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// slotCharge is a charge that slotModel keeps account of.
type slotCharge struct {
	body   string
	slot   string // empty: none
	amount int64
	lease  store.Lease
}

// slotMost is the most that the limit of slotModel counts.
const slotMost = 40

// slotModel makes random charges with and without slots, of which some are refunded, some are
// recorded and asked for again, and some stay with their lease, and keeps its own account: of
// the charges of a slot that were not refunded the largest counts, and every other one counts.
func slotModel(b *bench) {
	b.ttl = time.Minute
	random := rand.New(rand.NewPCG(5, 6))
	var book []slotCharge
	steps := 400
	if testing.Short() {
		steps = 100 // a store on a disk waits for it at each
	}
	for i := range steps {
		if len(book) > 0 && random.IntN(3) == 0 {
			settle(b, random, &book)
		}
		charge := slotCharge{body: fmt.Sprint("model ", i), amount: 1 + random.Int64N(20)}
		if random.IntN(8) > 0 {
			charge.slot = fmt.Sprint("nonce ", random.IntN(3))
		}
		others, held := accountOf(book, charge.slot)
		begun, err := b.charged(b.Store, charge.body, slotted(charge.slot, charge.amount, slotMost))
		if fits := others+max(held, charge.amount) <= slotMost; fits != (err == nil) {
			b.t.Fatalf("step %d: a charge of %d in slot %q, which holds %d, beside %d of %d: %v", i, charge.amount,
				charge.slot, held, others, slotMost, err)
		}
		if err != nil {
			_ = b.over(err, "x", slotMost-others)
			continue
		}
		charge.lease = *begun.Lease
		book = append(book, charge)
		sum, inSlot := accountOf(book, charge.slot)
		b.spent("x", sum+inSlot)
	}
}

// accountOf returns what a book counts beside a slot, and what it counts of the slot.
func accountOf(book []slotCharge, of string) (others, held int64) {
	slots := map[string]int64{}
	for _, charge := range book {
		if charge.slot == "" {
			others += charge.amount
			continue
		}
		slots[charge.slot] = max(slots[charge.slot], charge.amount)
	}
	for slot, amount := range slots {
		if slot != of {
			others += amount
		}
	}
	return others, slots[of]
}

// settle ends one of the charges of a model: it is refunded before a signature, or its activity
// is recorded, or it is asked for again, and charged no more. What is recorded still counts.
func settle(b *bench, random *rand.Rand, book *[]slotCharge) {
	i := random.IntN(len(*book))
	charge := (*book)[i]
	list := slotted(charge.slot, charge.amount, slotMost)
	if charge.lease.OrganizationID == "" { // recorded: it is answered, and charged no more
		again, err := b.charged(b.Store, charge.body, list)
		b.noError(err)
		b.same(true, again.Lease == nil)
		return
	}
	if random.IntN(3) > 0 {
		b.refund(charge.lease, charge.body, list)
		*book = append((*book)[:i], (*book)[i+1:]...)
		return
	}
	b.noError(b.Complete(b.t.Context(), charge.lease, b.activity(charge.body),
		b.charges(charge.body, list).Confirm(b.now, nil)))
	(*book)[i].lease = store.Lease{}
}
