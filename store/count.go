package store

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"time"
)

// Count is what a limit has counted for one subject within its window, as it was read, and charges
// that are to be made. The zero value has counted nothing.
type Count struct {
	window time.Duration
	sum    big.Int            // with the largest charge of each slot
	own    *big.Int           // part of the sum that is left out
	slots  map[[32]byte]count // the largest of each
	oldest []slotted          // all that was read, the oldest first
}

// CountOfOthers reads what a limit has counted without what one request was already charged: a
// request whose process died after taking the lease must not compete with itself. It uses Limit,
// Subject and Window of the charge, and locks nothing.
func CountOfOthers(ledger Ledger, by Fingerprint, charge Charge, now time.Time) (*Count, error) {
	counted, at, err := readTally(ledger, charge, now)
	if err != nil || len(counted.counts) == 0 && len(counted.slots) == 0 {
		return new(Count), err
	}
	made, err := readReceipt(ledger, by)
	if err != nil {
		return nil, err
	}
	unslotted := place{limit: charge.key()}
	for i := range made {
		if made[i].limit == unslotted.limit && made[i].slot != unslotted.slot {
			counted.leave(made[i].slot, made[i].at, made[i].amount)
		}
		made[i].window = min(made[i].window, charge.Window)
	}
	count := counted.count(at, charge.Window)
	count.own = made.charged(at)[unslotted]
	return count, nil
}

// count returns what is counted at a time.
func (t *tally) count(at int64, window time.Duration) *Count {
	t.prune(at, window)
	c := &Count{window: window, slots: t.held()}
	for _, counted := range t.besides(nil) {
		c.sum.Add(&c.sum, counted.amount)
	}
	for _, counted := range t.counts {
		c.oldest = append(c.oldest, slotted{count: counted})
	}
	for slot, counted := range c.slots {
		c.oldest = append(c.oldest, slotted{slot, counted})
	}
	slices.SortFunc(c.oldest, func(a, b slotted) int { return cmp.Compare(a.at, b.at) })
	return c
}

// Spent returns the sum, and when the first of it that was read leaves the window, zero if nothing
// was. What a charge with a slot would replace is left out: the limit would then have counted the
// sum and the charge's Amount, which may be nil.
func (c *Count) Spent(charge Charge) (sum *big.Int, frees time.Time) {
	sum = new(big.Int).Sub(&c.sum, c.replaced(&charge))
	if c.own != nil {
		sum.Sub(sum, c.own)
	}
	if sum.Sign() < 0 {
		sum.SetInt64(0)
	}
	slot := charge.slot()
	for _, counted := range c.oldest {
		if charge.Slot == "" || counted.slot != slot || counted.amount.Cmp(orZero(charge.Amount)) > 0 {
			return sum, time.UnixMilli(counted.at).Add(c.window).UTC()
		}
	}
	return sum, frees
}

// replaced returns how much of what is counted a charge replaces.
func (c *Count) replaced(charge *Charge) *big.Int {
	held, ok := c.slots[charge.slot()]
	amount := orZero(charge.Amount)
	if charge.Slot == "" || !ok {
		return new(big.Int)
	}
	if held.amount.Cmp(amount) < 0 {
		return held.amount
	}
	return amount
}

// Add counts a charge that is to be made.
func (c *Count) Add(charge Charge) {
	replaced := c.replaced(&charge)
	c.sum.Add(&c.sum, charge.Amount)
	c.sum.Sub(&c.sum, replaced)
	if held, ok := c.slots[charge.slot()]; charge.Slot == "" || ok && held.amount.Cmp(charge.Amount) >= 0 {
		return
	}
	if c.slots == nil {
		c.slots = map[[32]byte]count{}
	}
	c.slots[charge.slot()] = count{amount: charge.Amount}
}

func orZero(amount *big.Int) *big.Int {
	if amount == nil {
		return new(big.Int)
	}
	return amount
}

// Spending is what limits have counted, each as it was when it was first asked for, and charges
// that are to be made. The zero value begins with nothing counted. It is used by one goroutine.
type Spending struct {
	store  Store
	except Fingerprint
	now    func() time.Time
	counts map[counter]*Count
}

type counter struct{ limit, subject string }

// NewSpending returns what limits have counted of all requests except one, which may have been
// charged by a process that died.
func NewSpending(s Store, except Fingerprint, now func() time.Time) *Spending {
	return &Spending{store: s, except: except, now: now}
}

// Spent returns what was charged to a limit: see [Count.Spent].
func (s *Spending) Spent(ctx context.Context, organizationID string, charge Charge) (sum *big.Int,
	frees time.Time, err error) {
	of := counter{charge.Limit, charge.Subject}
	if s.counts[of] == nil && s.store != nil {
		err := s.store.Change(ctx, organizationID, ChangeFunc(func(ledger Ledger) (refusal, err error) {
			count, err := CountOfOthers(ledger, s.except, charge, s.now())
			if err == nil {
				*s.of(of) = *count
			}
			return nil, err
		}))
		if err != nil {
			return nil, frees, err
		}
	}
	sum, frees = s.of(of).Spent(charge)
	return sum, frees, nil
}

func (s *Spending) of(of counter) *Count {
	if s.counts == nil {
		s.counts = map[counter]*Count{}
	}
	if s.counts[of] == nil {
		s.counts[of] = new(Count)
	}
	return s.counts[of]
}

// Add counts charges that are to be made, of limits that have been asked for.
func (s *Spending) Add(charges []Charge) {
	for _, charge := range charges {
		s.of(counter{charge.Limit, charge.Subject}).Add(charge)
	}
}
