package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// Bounds of the window of a limit.
const (
	MinWindow = time.Minute
	MaxWindow = 31 * 24 * time.Hour
)

// maxAmountBits is the size of the largest amounts on chains: uint256.
const maxAmountBits = 256

// Errors of charges, for errors.Is.
var (
	// ErrLimit: a charge would exceed its limit; the error is a *LimitError.
	ErrLimit = errors.New("store: over a limit")

	// ErrUncharged: the charges of the lease are gone, or left their limit's window
	// before the work was done. Nothing may be recorded.
	ErrUncharged = errors.New("store: the request took longer than its charge lasts: nothing was recorded")
)

// Charge is an amount that a request takes from a limit. A limit allows at most Max in
// any Window for each of its subjects. A renamed limit starts at zero.
type Charge struct {
	Limit   string // name, unique within the organization
	Subject string // what is limited: a key, a user, a recipient…
	Amount  *big.Int
	Max     *big.Int
	Window  time.Duration // MinWindow to MaxWindow; time is counted in milliseconds

	// Unit and Decimals say how a person reads the amounts, such as USDC and 6. They are not kept.
	Unit     string
	Decimals int

	// Until is when the amount is too old to be charged, such as that of a price. Zero: never.
	// It is not kept.
	Until time.Time

	// Slot names what the charge is for if only one of several can happen, such as the
	// transactions of one nonce. Of the charges of a limit and subject with one slot, the
	// largest counts, for as long as the youngest is within the window. Each is kept, so
	// that a refund takes back its own only. Empty: the charge counts by itself.
	Slot string
}

// LimitError is the refusal of a charge that would exceed its limit.
type LimitError struct {
	Charge     Charge
	Left       *big.Int      // what may be charged now; at least zero. Nil if the amount is too old, or has no bound
	RetryAfter time.Duration // until the amount fits; 0 if it is more than Max and never will
}

// Error says what is left, in the smallest unit of the asset.
func (e *LimitError) Error() string {
	if e.Left == nil {
		return fmt.Sprintf("limit %s: the prices that it counts by were too old when it was charged", e.Charge.Limit)
	}
	text := fmt.Sprintf("limit %s: %s is over the %s left of %s in %v",
		e.Charge.Limit, e.Charge.Amount, e.Left, e.Charge.Max, e.Charge.Window)
	if e.RetryAfter == 0 {
		return text + ", and never fits"
	}
	return fmt.Sprintf("%s, and fits in %v", text, e.RetryAfter.Round(time.Millisecond))
}

func (*LimitError) Unwrap() error { return ErrLimit }

// Charges are the charges of one request. Its methods return the changes of the ledger for
// each step of the request through a store:
//
//	Begin(…, charges.Take(now, change))         charges the limits as the lease is taken
//	Complete(…, charges.Confirm(now, change))   refuses if the charge is gone; does not write to the limits
//	Release(…, charges.Refund(now, change))     only if nothing was signed
//
// A fingerprint is charged once: a lease that is taken over keeps the charge, and is only charged
// for what it needs in addition. A charge that is never refunded leaves its limit when its window
// has passed, so that a process that dies reserves nothing forever.
type Charges struct {
	By   Fingerprint // of the request
	List []Charge
}

// Check returns an error if a charge is invalid, which is a bug of the program and not
// the fault of the request.
func (c *Charges) Check() error {
	for _, charge := range c.List {
		switch {
		case charge.Limit == "":
			return errors.New("store: a charge without the name of its limit")
		case !isAmount(charge.Amount) || !isAmount(charge.Max):
			return fmt.Errorf("store: limit %s: expected amounts of 0 to 2^256-1", charge.Limit)
		case charge.Window < MinWindow || charge.Window > MaxWindow:
			return fmt.Errorf("store: limit %s: expected a window of %v to %v, not %v", charge.Limit, MinWindow,
				MaxWindow, charge.Window)
		}
	}
	return nil
}

func isAmount(amount *big.Int) bool {
	return amount != nil && amount.Sign() >= 0 && amount.BitLen() <= maxAmountBits
}

// Take returns the change that charges the limits as the lease is taken, and makes
// another change, which may be nil, in the same transaction. It charges all limits or
// none, and none if the other change refuses. Its refusal is a *LimitError.
func (c *Charges) Take(now time.Time, then Change) Change {
	if len(c.List) == 0 {
		return then
	}
	return ChangeFunc(func(ledger Ledger) (refusal, err error) {
		if err := c.Check(); err != nil {
			return nil, err
		}
		for _, charge := range c.List {
			if !charge.Until.IsZero() && ledger.Now(now).After(charge.Until) {
				return &LimitError{Charge: charge}, nil
			}
		}
		account, err := openAccount(ledger, c.By, c.merged(), ledger.Now(now))
		if err != nil {
			return nil, err
		}
		if refusal := account.charge(); refusal != nil {
			return refusal, nil
		}
		if refusal, err = apply(then, ledger); refusal != nil || err != nil {
			return refusal, err
		}
		return nil, account.save(ledger)
	})
}

// Confirm returns the change that is made as the activity is recorded. It refuses with
// ErrUncharged unless all charges are still there and within their windows. It neither
// writes to the limits nor locks them.
func (c *Charges) Confirm(now time.Time, then Change) Change {
	return c.before(then, func(ledger Ledger, made receipt) (refusal, err error) {
		charged := made.charged(ledger.Now(now).UnixMilli())
		for _, charge := range c.merged() {
			if made := charged[charge.of]; orZero(made).Cmp(charge.Amount) < 0 {
				return ErrUncharged, nil
			}
		}
		return nil, nil
	})
}

// Refund returns the change that takes back everything the request was charged. It is
// for a lease that is released before anything was signed.
func (c *Charges) Refund(now time.Time, then Change) Change {
	return c.before(then, func(ledger Ledger, made receipt) (refusal, err error) {
		return nil, made.refund(ledger, c.By, ledger.Now(now))
	})
}

// before returns a change that begins with what do does with the receipt.
func (c *Charges) before(then Change, do func(Ledger, receipt) (refusal, err error)) Change {
	if len(c.List) == 0 {
		return then
	}
	return ChangeFunc(func(ledger Ledger) (refusal, err error) {
		made, err := readReceipt(ledger, c.By)
		if err == nil {
			refusal, err = do(ledger, made)
		}
		if refusal != nil || err != nil {
			return refusal, err
		}
		return apply(then, ledger)
	})
}

// place is what a charge counts for: a limit, and a slot of it or zero.
type place struct {
	limit Key
	slot  [32]byte
}

// placed is a charge with its place.
type placed struct {
	Charge
	of place
}

// merged returns one charge for each place, sorted by the key of its limit.
func (c *Charges) merged() []placed {
	var all []placed
	known := map[place]int{}
	for _, charge := range c.List {
		of := place{charge.key(), charge.slot()}
		if i, ok := known[of]; ok {
			all[i].Amount = new(big.Int).Add(all[i].Amount, charge.Amount)
			continue
		}
		known[of] = len(all)
		all = append(all, placed{charge, of})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.of.limit.Compare(b.of.limit) })
	return all
}

// key is the SHA-256 of the limit's name, with its length before it, and the subject.
func (c *Charge) key() Key {
	named := binary.AppendUvarint([]byte("countersign limit v1"), uint64(len(c.Limit)))
	named = append(append(named, c.Limit...), c.Subject...)
	return Key{KindLimit, sha256.Sum256(named)}
}

// slot is the SHA-256 of the slot; zero if the charge has none.
func (c *Charge) slot() (slot [32]byte) {
	if c.Slot != "" {
		slot = sha256.Sum256(append([]byte("countersign slot v1"), c.Slot...))
	}
	return slot
}

// Spent returns what a limit has counted, as [Count.Spent] does. It uses Limit, Subject and Window
// of the charge, and locks nothing.
func Spent(ledger Ledger, charge Charge, now time.Time) (sum *big.Int, frees time.Time, err error) {
	counted, at, err := readTally(ledger, charge, now)
	if err != nil {
		return nil, frees, err
	}
	sum, frees = counted.count(at, charge.Window).Spent(charge)
	return sum, frees, nil
}

// readTally returns what a limit has counted, and the limit's time in milliseconds since the epoch.
func readTally(ledger Ledger, charge Charge, now time.Time) (counted tally, at int64, err error) {
	entry, err := ledger.Read(charge.key())
	if err != nil {
		return counted, 0, err
	}
	counted, err = parseTally(entry.Value)
	return counted, max(ledger.Now(now).UnixMilli(), counted.last), err
}
