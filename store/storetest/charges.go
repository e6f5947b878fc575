package storetest

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// runCharges checks the rules of limits.
func runCharges(t *testing.T, h Harness) {
	for name, test := range map[string]func(*bench){
		"a limit is charged with the lease":              chargeTaken,
		"all charges of a request or none":               chargeAllOrNone,
		"a refused change charges nothing":               chargeRefusedChange,
		"a release before a signature gives it back":     chargeRefunded,
		"a release after a signature does not":           chargeKept,
		"a takeover keeps the charge":                    chargeTakenOver,
		"a lease without its charge does not complete":   chargeGone,
		"what others have spent":                         chargeOthers,
		"a body is charged once, however often it comes": chargeOnce,
		"organizations and subjects are walls":           chargeWalls,
		"64 at once never exceed the limit": func(b *bench) {
			chargeAtOnce(b,
				func(int) store.Store { return b.Store })
		},
		"two limits at once, in either order":          chargeCrossed,
		"the largest charge of a slot counts":          slotLargest,
		"a refund takes back its own charge of a slot": slotRefunded,
		"a takeover keeps the charge of a slot":        slotTakenOver,
		"a slot of 1,001 charges":                      slotMany,
		"several slots of one limit":                   slotsOfList,
		"64 at once in one slot":                       slotAtOnce,
		"slots against a model":                        slotModel,
	} {
		t.Run(name, func(t *testing.T) {
			h.atOnce(t)
			test(open(t, h))
		})
	}
	if !h.OwnClock {
		t.Run("a charge leaves its window", func(t *testing.T) { chargeLeaves(open(t, h)) })
		t.Run("the time of a limit never goes back", func(t *testing.T) { chargeClockBack(open(t, h)) })
		t.Run("a slot is as old as its youngest charge", func(t *testing.T) { slotAge(open(t, h)) })
		t.Run("sums against a model", func(t *testing.T) { chargeModel(open(t, h)) })
	}
}

const window = time.Hour

func amounts(limit string, amount, most int64) []store.Charge {
	return []store.Charge{{Limit: limit, Subject: "key", Amount: big.NewInt(amount), Max: big.NewInt(most),
		Window: window}}
}

func (b *bench) charges(body string, list []store.Charge) *store.Charges {
	return &store.Charges{By: fingerprint(body), List: list}
}

// charged begins a body with charges.
func (b *bench) charged(s store.Store, body string, list []store.Charge) (store.BeginResult, error) {
	claim := b.claim(body)
	claim.LiveUntil = farAway
	return s.Begin(b.t.Context(), claim, b.charges(body, list).Take(b.now, nil))
}

func (b *bench) mustCharge(body string, list []store.Charge) store.Lease {
	b.t.Helper()
	begun, err := b.charged(b.Store, body, list)
	b.noError(err)
	if begun.Lease == nil {
		b.t.Fatalf("no lease: %+v", begun)
	}
	return *begun.Lease
}

// spent checks what a limit has counted for the subject "key".
func (b *bench) spent(limit string, want int64) {
	b.t.Helper()
	b.noError(b.Change(b.t.Context(), organization, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
		sum, _, err := store.Spent(ledger, amounts(limit, 0, 0)[0], b.now)
		if err == nil && sum.Cmp(big.NewInt(want)) != 0 {
			b.t.Errorf("limit %s has counted %s; %d was expected", limit, sum, want)
		}
		return nil, err
	})))
}

// over checks that a limit refuses, and what it says is left.
func (b *bench) over(err error, limit string, left int64) *store.LimitError {
	b.t.Helper()
	refused, ok := errors.AsType[*store.LimitError](err)
	if !ok || !errors.Is(err, store.ErrLimit) || refused.Charge.Limit != limit ||
		refused.Left.Cmp(big.NewInt(left)) != 0 {
		b.t.Fatalf("%v; over limit %s with %d left was expected", err, limit, left)
	}
	return refused
}

func chargeTaken(b *bench) {
	b.ttl = time.Minute
	lease := b.mustCharge("a", amounts("x", 7, 10))
	b.spent("x", 7)
	_, err := b.charged(b.Store, "b", amounts("x", 4, 10))
	refused := b.over(err, "x", 3)
	b.same(true, refused.RetryAfter > 0 && refused.RetryAfter <= window)
	_, err = b.charged(b.Store, "c", amounts("x", 11, 10))
	b.same(time.Duration(0), b.over(err, "x", 3).RetryAfter)
	b.spent("x", 7)
	b.mustCharge("b", amounts("x", 3, 10))
	b.noError(b.Complete(b.t.Context(), lease, b.activity("a"),
		b.charges("a", amounts("x", 7, 10)).Confirm(b.now, nil)))
	b.recorded()
	b.spent("x", 10)
}

func chargeAllOrNone(b *bench) {
	huge := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	list := slices.Concat(amounts("x", 5, 10), amounts("y", 2, 1), amounts("z", 1, 1))
	_, err := b.charged(b.Store, "a", list)
	_ = b.over(err, "y", 1)
	b.spent("x", 0)
	b.spent("z", 0)
	list[1].Amount, list[1].Max = huge, huge
	b.mustCharge("a", append(list, amounts("x", 5, 10)...))
	b.spent("x", 10)
	_, err = b.charged(b.Store, "b", amounts("x", 1, 10))
	_ = b.over(err, "x", 0)
}

func chargeRefusedChange(b *bench) {
	b.ttl = time.Minute
	take := b.charges("a", amounts("x", 5, 10)).Take(b.now, bump(errRefused, nil))
	_, err := b.Begin(b.t.Context(), b.claim("a"), take)
	b.is(err, errRefused)
	b.bumped(1) // a wrong code is refused, and counted
	b.spent("x", 0)
}

func chargeRefunded(b *bench) {
	b.ttl = time.Minute
	lease := b.mustCharge("a", amounts("x", 10, 10))
	b.noError(b.Release(b.t.Context(), lease, b.charges("a", amounts("x", 10, 10)).Refund(b.now, bump(nil, nil))))
	b.bumped(1)
	b.spent("x", 0)
	b.mustCharge("b", amounts("x", 10, 10))
}

func chargeKept(b *bench) {
	b.ttl = time.Minute
	b.noError(b.Release(b.t.Context(), b.mustCharge("a", amounts("x", 10, 10)), nil))
	b.spent("x", 10)
	b.mustCharge("a", amounts("x", 10, 10)) // the same body is not charged again
	b.spent("x", 10)
}

func chargeTakenOver(b *bench) {
	first := b.mustCharge("a", amounts("x", 6, 10))
	b.pass(b.ttl + time.Millisecond)
	b.ttl = time.Minute
	second := b.mustCharge("a", amounts("x", 6, 10))
	b.spent("x", 6)
	b.lost(first)
	b.is(b.Release(b.t.Context(), first, b.charges("a", amounts("x", 6, 10)).Refund(b.now, nil)), store.ErrLeaseLost)
	b.spent("x", 6)
	b.noError(b.Complete(b.t.Context(), second, b.activity("a"),
		b.charges("a", amounts("x", 6, 10)).Confirm(b.now, nil)))
	b.spent("x", 6)
}

// chargeOthers checks that CountOfOthers leaves out what the request itself was charged.
func chargeOthers(b *bench) {
	b.mustCharge("a", amounts("x", 3, 10))
	b.mustCharge("b", amounts("x", 4, 10))
	for body, want := range map[string]int64{"a": 4, "b": 3, "c": 7} {
		b.noError(b.Change(b.t.Context(), organization, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
			count, err := store.CountOfOthers(ledger, fingerprint(body), amounts("x", 0, 0)[0], b.now)
			if err == nil {
				sum, _ := count.Spent(amounts("x", 0, 0)[0])
				b.same(big.NewInt(want).String(), sum.String())
			}
			return nil, err
		})))
	}
}

func chargeGone(b *bench) {
	b.ttl = time.Minute
	lease := b.lease("a")
	b.is(b.Complete(b.t.Context(), lease, b.activity("a"), b.charges("a", amounts("x", 1, 10)).Confirm(b.now, nil)),
		store.ErrUncharged)
	_, err := b.Get(b.t.Context(), organization, b.activity("a").ID)
	b.is(err, store.ErrNotFound)
	b.noError(b.Release(b.t.Context(), lease, b.charges("a", amounts("x", 1, 10)).Refund(b.now, nil)))
}

func chargeOnce(b *bench) {
	b.ttl = time.Minute
	lease := b.mustCharge("a", amounts("x", 6, 10))
	for range 3 {
		begun, err := b.charged(b.Store, "a", amounts("x", 6, 10))
		b.noError(err)
		b.same(true, begun.Wait != nil)
	}
	b.complete(lease, "a")
	for range 3 {
		begun, err := b.charged(b.Store, "a", amounts("x", 6, 10))
		b.noError(err)
		b.same(true, begun.Recorded != nil)
	}
	b.spent("x", 6)
}

func chargeWalls(b *bench) {
	b.mustCharge("a", amounts("x", 10, 10))
	other := amounts("x", 10, 10)
	other[0].Subject = "another key"
	b.mustCharge("b", other)
	claim := b.claim("c")
	claim.OrganizationID = "another"
	_, err := b.Begin(b.t.Context(), claim, b.charges("c", amounts("x", 10, 10)).Take(b.now, nil))
	b.noError(err)
}

// chargeAtOnce begins, completes, releases and repeats against one limit from 64
// goroutines. The charges that were not refunded never exceed the limit, and are exactly
// what it has counted.
func chargeAtOnce(b *bench, node func(i int) store.Store) {
	const clients, each, most = 64, 6, 100
	b.ttl = time.Minute
	var taken atomic.Int64
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for n := range each {
				body, amount := fmt.Sprint(i, " ", n), 1+random.Int64N(7)
				chargeOne(b, node(i), node(i+1), body, amount, most, random.IntN(3) == 0, &taken)
			}
		})
	}
	all.Wait()
	if got := taken.Load(); got > most || got < most-7 {
		b.t.Errorf("%d of %d were taken", got, most)
	}
	b.spent("x", taken.Load())
}

// chargeOne charges a body on one node, repeats it on the other, and completes or
// refunds it.
func chargeOne(b *bench, on, other store.Store, body string, amount, most int64, back bool, taken *atomic.Int64) {
	begun, err := b.charged(on, body, amounts("x", amount, most))
	if errors.Is(err, store.ErrLimit) {
		return
	}
	if err != nil || begun.Lease == nil {
		b.t.Errorf("begin: %+v, %v", begun, err)
		return
	}
	if now := taken.Add(amount); now > most {
		b.t.Errorf("%d of %d were taken", now, most)
	}
	if again, err := b.charged(other, body, amounts("x", amount, most)); err != nil || again.Wait == nil {
		b.t.Errorf("begin again: %+v, %v", again, err)
	}
	charges := b.charges(body, amounts("x", amount, most))
	if back {
		taken.Add(-amount) // first: another may have it as soon as it is given back
		err = on.Release(b.t.Context(), *begun.Lease, charges.Refund(b.now, nil))
	} else {
		err = on.Complete(b.t.Context(), *begun.Lease, b.activity(body), charges.Confirm(b.now, nil))
	}
	if err != nil {
		b.t.Error(err)
	}
}

// chargeCrossed charges two limits, named in either order, and checks that no two
// transactions wait for each other.
func chargeCrossed(b *bench) {
	b.ttl = time.Minute
	var all sync.WaitGroup
	for i := range 40 {
		list := slices.Concat(amounts("x", 1, 100), amounts("y", 1, 100))
		if i%2 == 0 {
			slices.Reverse(list)
		}
		all.Go(func() {
			if _, err := b.charged(b.Store, fmt.Sprint(i), list); err != nil {
				b.t.Error(err)
			}
		})
	}
	all.Wait()
	b.spent("x", 40)
	b.spent("y", 40)
}

func chargeLeaves(b *bench) {
	b.ttl = 2 * window
	lease := b.mustCharge("a", amounts("x", 10, 10))
	b.now = epoch.Add(window - time.Millisecond)
	_, err := b.charged(b.Store, "b", amounts("x", 1, 10))
	b.same(time.Millisecond, b.over(err, "x", 0).RetryAfter)
	b.now = epoch.Add(window)
	b.mustCharge("b", amounts("x", 10, 10))
	charges := b.charges("a", amounts("x", 10, 10))
	b.is(b.Complete(b.t.Context(), lease, b.activity("a"), charges.Confirm(b.now, nil)), store.ErrUncharged)
	b.noError(b.Release(b.t.Context(), lease, charges.Refund(b.now, nil)))
	b.spent("x", 10)
	if b.Sweeper != nil {
		b.same(2, b.sweep(b.now.Add(window+time.Minute)).Entries)
		b.spent("x", 0)
	}
}

func chargeClockBack(b *bench) {
	b.mustCharge("a", amounts("x", 10, 10))
	b.now = epoch.Add(window)
	b.mustCharge("b", amounts("x", 10, 10))
	b.now = epoch.Add(-10 * window)
	_, err := b.charged(b.Store, "c", amounts("x", 1, 10))
	_ = b.over(err, "x", 0)
}

// chargeModel charges, refunds and advances the clock a few thousand times, and keeps
// its own account: the store never counts less than what is within the window, and
// exactly that as long as there are at most a thousand amounts.
func chargeModel(b *bench) {
	type entry struct {
		at     time.Time
		amount int64
	}
	random := rand.New(rand.NewPCG(3, 4))
	var book []entry
	steps := 3000
	if testing.Short() {
		steps = 300 // a store on a disk waits for it at each
	}
	most := int64(steps) * 20 / 3
	for i := range steps {
		if i == steps/2 {
			most = 1 << 40 // from here on all fit into a window
		}
		b.now = b.now.Add(time.Duration(random.Int64N(1000)) * time.Millisecond)
		book = slices.DeleteFunc(book, func(booked entry) bool { return !booked.at.After(b.now.Add(-window)) })
		exact := int64(0)
		for _, booked := range book {
			exact += booked.amount
		}
		body, amount := fmt.Sprint(i), 1+random.Int64N(100)
		begun, err := b.charged(b.Store, body, amounts("x", amount, most))
		if err != nil {
			refused := b.over(err, "x", max(0, most-exact))
			b.same(true, exact+amount > most && refused.RetryAfter > 0)
			continue
		}
		if exact+amount > most {
			b.t.Fatalf("%d were charged beyond %d of %d", amount, exact, most)
		}
		if random.IntN(4) == 0 {
			b.noError(b.Release(b.t.Context(), *begun.Lease,
				b.charges(body, amounts("x", amount, most)).Refund(b.now, nil)))
			continue
		}
		book = append(book, entry{b.now, amount})
		if len(book) < steps*3/10 {
			continue
		}
		b.noError(b.Change(b.t.Context(), organization, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
			sum, _, err := store.Spent(ledger, amounts("x", 0, 0)[0], b.now)
			if sum.Cmp(big.NewInt(exact+amount)) < 0 {
				b.t.Errorf("%s were counted of %d", sum, exact+amount)
			}
			return nil, err
		})))
	}
	if len(book) < steps*2/5 {
		b.t.Errorf("only %d amounts were within the window", len(book))
	}
}
