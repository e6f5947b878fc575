package store_test

import (
	"encoding/binary"
	"math/big"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// TestFullSlots adds a charge to a tally that has all the charges with slots that it keeps. The
// oldest slot is merged into a bucket: it still counts, a refund gives nothing back, and a
// further charge of it counts in full.
func TestFullSlots(t *testing.T) {
	const kept = 10_000
	ledger := &mapLedger{t: t, entries: map[store.Key]store.Entry{}}
	slotted := func(slot string, amount int64) []store.Charge {
		return []store.Charge{{Limit: "x", Subject: "key", Amount: big.NewInt(amount), Max: big.NewInt(1 << 40), Window: time.Hour, Slot: slot}}
	}
	take := func(by uint16, slot string, amount int64, now time.Time) *store.Charges {
		t.Helper()
		charges := &store.Charges{By: fingerprint(by), List: slotted(slot, amount)}
		if refusal, err := ledger.apply(charges.Take(now, nil)); refusal != nil || err != nil {
			t.Fatal(refusal, err)
		}
		return charges
	}
	counts := func(want int64) {
		t.Helper()
		if sum, _, err := store.Spent(ledger, slotted("", 0)[0], start.Add(time.Minute)); err != nil || sum.Int64() != want {
			t.Errorf("%v are counted, want %d; %v", sum, want, err)
		}
	}
	first := take(1, "first", 5, start)
	for key, entry := range ledger.entries {
		if key.Kind != store.KindLimit {
			continue
		}
		for i := range uint64(kept - 1) { // others, of 1 each, a second later
			slot := binary.BigEndian.AppendUint64(make([]byte, 24), i+1)
			entry.Value = binary.BigEndian.AppendUint64(append(entry.Value, slot...), uint64(start.Add(ahead+time.Second).UnixMilli()))
			entry.Value = append(entry.Value, 1, 1)
		}
		ledger.entries[key] = entry
	}
	counts(5 + kept - 1)
	take(2, "first", 7, start) // one too many, of the oldest slot
	counts(7 + kept - 1)
	take(3, "another", 1, start.Add(2*time.Second))
	counts(7 + kept)
	if refusal, err := ledger.apply(first.Refund(start.Add(2*time.Second), nil)); refusal != nil || err != nil {
		t.Fatal(refusal, err)
	}
	counts(7 + kept)
	take(4, "first", 2, start.Add(3*time.Second))
	counts(9 + kept)
}
