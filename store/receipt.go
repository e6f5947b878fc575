package store

import (
	"math/big"
	"slices"
	"time"
)

// charge is one charge in a request's receipt.
type charge struct {
	limit  Key
	slot   [32]byte // zero: none
	at     int64
	window time.Duration
	amount *big.Int
}

// receipt has the charges of one request.
type receipt []charge

func receiptKey(by Fingerprint) Key { return Key{KindCharge, by} }

func readReceipt(ledger Ledger, by Fingerprint) (receipt, error) {
	entry, err := ledger.Read(receiptKey(by))
	if err != nil {
		return nil, err
	}
	return parseReceipt(entry.Value)
}

// charged returns what the request was charged against a limit and is still within
// the window: the sum, or the largest amount of a slot.
func (r receipt) charged(limit Key, slot [32]byte, now int64) *big.Int {
	sum := new(big.Int)
	for _, charge := range r {
		switch {
		case charge.limit != limit || charge.slot != slot || charge.at+charge.window.Milliseconds() <= now:
		case slot == [32]byte{}:
			sum.Add(sum, charge.amount)
		case sum.Cmp(charge.amount) < 0:
			sum.Set(charge.amount)
		}
	}
	return sum
}

// leaveSlots takes what the request was charged with slots out of what a limit has counted.
func (r receipt) leaveSlots(limit Key, counted *tally) {
	for _, charge := range r {
		if charge.limit == limit && charge.slot != ([32]byte{}) {
			counted.leave(charge.slot, charge.at, charge.amount)
		}
	}
}

// within returns the receipt with no window longer than the given one.
func (r receipt) within(window time.Duration) receipt {
	capped := slices.Clone(r)
	for i := range capped {
		capped[i].window = min(capped[i].window, window)
	}
	return capped
}

func (r receipt) keepUntil() time.Time {
	var until int64
	for _, charge := range r {
		until = max(until, charge.at+charge.window.Milliseconds())
	}
	return time.UnixMilli(until).UTC()
}

// refund takes back all charges of the receipt.
func (r receipt) refund(ledger Ledger, by Fingerprint, now time.Time) error {
	if len(r) == 0 {
		return nil
	}
	var keys []Key
	for _, charge := range r {
		if !slices.Contains(keys, charge.limit) {
			keys = append(keys, charge.limit)
		}
	}
	slices.SortFunc(keys, Key.Compare)
	entries, err := ledger.Lock(append(keys, receiptKey(by))...)
	if err != nil {
		return err
	}
	for i, key := range keys {
		counted, err := parseTally(entries[i].Value)
		if err != nil {
			return err
		}
		counted.last = max(counted.last, now.UnixMilli())
		for _, charge := range r {
			if charge.limit == key {
				counted.refund(&charge)
			}
		}
		if err := ledger.Write(key, Entry{counted.encode(), entries[i].KeepUntil}); err != nil {
			return err
		}
	}
	return ledger.Write(receiptKey(by), Entry{})
}

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
