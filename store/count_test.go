package store_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
)

// TestCountIsWhatIsCharged: what a Count says with charges that are to be made is what the ledger says
// once they are made: with and without slots, beside those of others, of amounts from zero on, and
// if a process died after the same request was charged.
func TestCountIsWhatIsCharged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one := func(slot string, amount int64) store.Charge {
		return store.Charge{Limit: "x", Subject: "key", Amount: big.NewInt(amount), Max: big.NewInt(1 << 40),
			Window: time.Hour, Slot: slot}
	}
	for round := range 500 {
		ledger := &mapLedger{t: t, entries: map[store.Key]store.Entry{}}
		draw := func() (list []store.Charge) {
			for slot := range 4 {
				if random.IntN(2) == 0 {
					list = append(list, one(fmt.Sprint("slot ", slot), random.Int64N(4)))
				}
				if random.IntN(3) == 0 {
					list = append(list, one("", random.Int64N(4)))
				}
			}
			return list
		}
		take := func(by uint16, list []store.Charge) {
			t.Helper()
			charges := store.Charges{By: fingerprint(by), List: list}
			change := charges.Take(start, nil)
			if change == nil {
				return
			}
			if refusal, err := ledger.apply(change); refusal != nil || err != nil {
				t.Fatal(refusal, err)
			}
		}
		take(1, draw())
		take(2, draw())
		list := draw()
		if round%2 == 0 {
			take(3, list)
		}
		count, err := store.CountOfOthers(ledger, fingerprint(3), one("", 0), start)
		testenv.Must(t, err)
		for _, charge := range list {
			count.Add(charge)
		}
		take(3, list)
		for slot := range 5 {
			for amount := range int64(5) {
				asked := one(fmt.Sprint("slot ", slot), amount)
				if slot == 4 {
					asked.Slot = ""
				}
				want, _, err := store.Spent(ledger, asked, start)
				got, _ := count.Spent(asked)
				if err != nil || got.Cmp(want) != 0 {
					t.Fatalf("round %d: %v with %q of %d, want %v; %v", round, got, asked.Slot, amount, want, err)
				}
			}
		}
	}
}
