package store

import (
	"math/big"
	"time"
)

// account holds the locked limits that a request is charged against.
type account struct {
	by      Fingerprint
	list    []keyedCharge
	tallies []tally // of the limits in list
	receipt receipt // of the request so far
	now     int64
}

func openAccount(ledger Ledger, by Fingerprint, list []keyedCharge, now time.Time) (*account, error) {
	keys := make([]Key, 0, len(list)+1)
	for _, charge := range list {
		keys = append(keys, charge.key)
	}
	entries, err := ledger.Lock(append(keys, receiptKey(by))...)
	if err != nil {
		return nil, err
	}
	a := &account{by: by, list: list, tallies: make([]tally, len(list)), now: now.UnixMilli()}
	for i := range list {
		if a.tallies[i], err = parseTally(entries[i].Value); err != nil {
			return nil, err
		}
		a.now = max(a.now, a.tallies[i].last)
	}
	a.receipt, err = parseReceipt(entries[len(list)].Value)
	return a, err
}

// charge counts what is not charged yet, or returns a *LimitError.
func (a *account) charge() error {
	for i := range a.list {
		added, counted := &a.list[i], &a.tallies[i]
		counted.prune(a.now, added.Window)
		slot := added.slot()
		more := new(big.Int).Sub(added.Amount, a.receipt.charged(added.key, slot, a.now))
		if more.Sign() <= 0 {
			continue
		}
		if slot != ([32]byte{}) {
			more.Set(added.Amount) // the largest counts, not the sum
		}
		others := counted.besides(slot, more)
		sum := sumOf(others)
		if new(big.Int).Add(sum, more).Cmp(added.Max) > 0 {
			left := new(big.Int).Sub(added.Max, sum)
			if left.Sign() < 0 {
				left.SetInt64(0)
			}
			return &LimitError{Charge: added.Charge, Left: left, RetryAfter: a.retryAfter(i, others, more)}
		}
		counted.charge(slot, a.now, more, added.Window)
		a.receipt = append(a.receipt, charge{added.key, slot, a.now, added.Window, more})
	}
	return nil
}

func (a *account) retryAfter(i int, others []count, more *big.Int) time.Duration {
	if a.list[i].Amount.Cmp(a.list[i].Max) > 0 {
		return 0
	}
	return free(others, a.now, &a.list[i].Charge, more)
}

func (a *account) save(ledger Ledger) error {
	for i, counted := range a.tallies {
		counted.last = a.now
		until := max(a.now, counted.latest())
		keep := time.UnixMilli(until).Add(a.list[i].Window).UTC()
		if err := ledger.Write(a.list[i].key, Entry{counted.encode(), keep}); err != nil {
			return err
		}
	}
	return ledger.Write(receiptKey(a.by), Entry{a.receipt.encode(), a.receipt.keepUntil()})
}
