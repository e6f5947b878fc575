package store

import (
	"maps"
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

// charged returns what the request was charged and is still within the window, by place: the sum,
// or the largest amount of a slot.
func (r receipt) charged(now int64) map[place]*big.Int {
	all := map[place]*big.Int{}
	for _, charge := range r {
		of := place{charge.limit, charge.slot}
		before, ok := all[of]
		switch {
		case charge.at+charge.window.Milliseconds() <= now:
		case !ok:
			all[of] = charge.amount
		case charge.slot == [32]byte{}:
			all[of] = new(big.Int).Add(before, charge.amount)
		case before.Cmp(charge.amount) < 0:
			all[of] = charge.amount
		}
	}
	return all
}

// refund takes back all charges of the receipt.
func (r receipt) refund(ledger Ledger, by Fingerprint, now time.Time) error {
	if len(r) == 0 {
		return nil
	}
	of := map[Key][]*charge{}
	for i := range r {
		of[r[i].limit] = append(of[r[i].limit], &r[i])
	}
	keys := slices.SortedFunc(maps.Keys(of), Key.Compare)
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
		for _, charge := range of[key] {
			if charge.slot == ([32]byte{}) {
				counted.remove(charge.at, charge.amount, charge.window)
			} else {
				counted.leave(charge.slot, charge.at, charge.amount)
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
	limits  []limit
	receipt receipt // of the request so far
	now     int64
}

// limit is a locked limit for one subject, and what is charged to it: one charge for each slot.
type limit struct {
	tally
	list []placed
}

func openAccount(ledger Ledger, by Fingerprint, list []placed, now time.Time) (*account, error) {
	a := &account{by: by, now: now.UnixMilli()}
	var keys []Key
	for i, charge := range list {
		if i == 0 || charge.of.limit != list[i-1].of.limit {
			a.limits, keys = append(a.limits, limit{}), append(keys, charge.of.limit)
		}
		last := &a.limits[len(a.limits)-1]
		last.list = append(last.list, charge)
	}
	entries, err := ledger.Lock(append(keys, receiptKey(by))...)
	if err != nil {
		return nil, err
	}
	for i := range a.limits {
		if a.limits[i].tally, err = parseTally(entries[i].Value); err != nil {
			return nil, err
		}
		a.now = max(a.now, a.limits[i].last)
	}
	a.receipt, err = parseReceipt(entries[len(keys)].Value)
	return a, err
}

// charge counts what is not charged yet, or returns a *LimitError.
func (a *account) charge() error {
	charged := a.receipt.charged(a.now)
	for i := range a.limits {
		l := &a.limits[i]
		window := l.list[0].Window
		l.prune(a.now, window)
		more, sum := map[[32]byte]*big.Int{}, new(big.Int)
		for _, added := range l.list {
			amount := new(big.Int).Sub(added.Amount, orZero(charged[added.of]))
			if amount.Sign() <= 0 {
				continue
			}
			if added.of.slot != ([32]byte{}) {
				amount.Set(added.Amount) // the largest counts, not the sum
			}
			more[added.of.slot] = amount
			sum.Add(sum, amount)
		}
		if refusal := l.over(a.now, more, sum); refusal != nil {
			return refusal
		}
		for _, added := range l.list {
			if amount := more[added.of.slot]; amount != nil {
				l.charge(added.of.slot, a.now, amount, window)
				a.receipt = append(a.receipt, charge{added.of.limit, added.of.slot, a.now, window, amount})
			}
		}
		l.mergeSlots(window)
	}
	return nil
}

// over returns the refusal of amounts, by slot, whose sum exceeds the limit.
func (l *limit) over(now int64, more map[[32]byte]*big.Int, sum *big.Int) error {
	if len(more) == 0 {
		return nil
	}
	charge, others := l.list[0].Charge, l.besides(more)
	spent := sumOf(others)
	if new(big.Int).Add(spent, sum).Cmp(charge.Max) <= 0 {
		return nil
	}
	for _, added := range l.list[1:] {
		charge.Amount = new(big.Int).Add(charge.Amount, added.Amount)
	}
	refusal := &LimitError{Charge: charge, Left: spent.Sub(charge.Max, spent)}
	if refusal.Left.Sign() < 0 {
		refusal.Left.SetInt64(0)
	}
	if charge.Amount.Cmp(charge.Max) <= 0 {
		refusal.RetryAfter = free(others, now, &charge, sum)
	}
	return refusal
}

func (a *account) save(ledger Ledger) error {
	for i := range a.limits {
		l := &a.limits[i]
		l.last = a.now
		latest := a.now
		for _, counted := range l.counts {
			latest = max(latest, counted.at)
		}
		for _, counted := range l.slots {
			latest = max(latest, counted.at)
		}
		keep := time.UnixMilli(latest).Add(l.list[0].Window).UTC()
		if err := ledger.Write(l.list[0].of.limit, Entry{l.encode(), keep}); err != nil {
			return err
		}
	}
	var until int64
	for _, charge := range a.receipt {
		until = max(until, charge.at+charge.window.Milliseconds())
	}
	return ledger.Write(receiptKey(a.by), Entry{a.receipt.encode(), time.UnixMilli(until).UTC()})
}
