package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
)

// mapLedger is a ledger in a map, whose clock is ahead of its callers'.
type mapLedger struct {
	t       *testing.T
	entries map[store.Key]store.Entry
	locked  []store.Key
	fail    int // the operation that fails, counted from 1
	ops     int
}

const ahead = 7 * time.Minute

var (
	errLedger = errors.New("the ledger failed")
	start     = time.Date(2026, time.May, 4, 3, 2, 1, 0, time.UTC)
)

func (l *mapLedger) op() error {
	if l.ops++; l.ops == l.fail {
		return errLedger
	}
	return nil
}

func (l *mapLedger) Lock(keys ...store.Key) (entries []store.Entry, err error) {
	for _, key := range keys {
		if n := len(l.locked); n > 0 && l.locked[n-1].Compare(key) >= 0 {
			l.t.Errorf("%c %x is locked after %c %x", key.Kind, key.ID[:4], l.locked[n-1].Kind, l.locked[n-1].ID[:4])
		}
		l.locked = append(l.locked, key)
		entries = append(entries, l.copy(key))
	}
	return entries, l.op()
}

func (l *mapLedger) copy(key store.Key) store.Entry {
	entry := l.entries[key]
	entry.Value = bytes.Clone(entry.Value)
	return entry
}

func (l *mapLedger) Read(key store.Key) (store.Entry, error) { return l.copy(key), l.op() }

func (l *mapLedger) Write(key store.Key, entry store.Entry) error {
	if !slices.Contains(l.locked, key) {
		l.t.Errorf("%c %x is written but not locked", key.Kind, key.ID[:4])
	}
	l.entries[key] = entry
	if len(entry.Value) == 0 {
		delete(l.entries, key)
	}
	return l.op()
}

func (l *mapLedger) Now(caller time.Time) time.Time { return caller.Add(ahead) }

// apply makes a change in a transaction. After an error nothing is written.
func (l *mapLedger) apply(change store.Change) (refusal, err error) {
	before := maps.Clone(l.entries)
	l.locked, l.ops = nil, 0
	if refusal, err = change.Apply(l); err != nil {
		l.entries = before
	}
	return refusal, err
}

// charged is a charge in the account that the test keeps.
type charged struct {
	by     uint16
	limit  string
	at     int64
	amount int64
}

// book is the test's own account of two limits.
type book struct {
	list   []charged
	last   map[string]int64
	merged bool // the amounts are in buckets
}

var windows = map[string]time.Duration{"x": time.Minute, "y": 90*time.Second + 7*time.Millisecond}

const most = 9000

// sum returns what was charged within the window and a given time before it.
func (b *book) sum(limit string, at, before int64, counts func(by uint16) bool) (sum int64) {
	for _, one := range b.list {
		if one.limit == limit && one.at > at-windows[limit].Milliseconds()-before && counts(one.by) {
			sum += one.amount
		}
	}
	return sum
}

func fingerprint(by uint16) store.Fingerprint { return store.Fingerprint{byte(by >> 8), byte(by)} }

func anyone(uint16) bool { return true }

func charge(limit string, amount int64) store.Charge {
	return store.Charge{Limit: limit, Subject: "key", Amount: big.NewInt(amount), Max: big.NewInt(most), Window: windows[limit]}
}

// chargeBench compares a store's account with that of the test.
type chargeBench struct {
	t      *testing.T
	ledger *mapLedger
	book   book
	random *rand.Rand
	now    int64 // on the ledger's clock, in milliseconds
	limits map[store.Key]string
}

func (b *chargeBench) caller() time.Time { return time.UnixMilli(b.now).Add(-ahead) }

// TestChargesAgainstModel takes, refunds and confirms charges against two limits, with a
// clock that sometimes goes back. Up to a thousand amounts, sums are exact. Beyond, an
// amount counts until up to a 64th of the window later, never less.
func TestChargesAgainstModel(t *testing.T) {
	for _, test := range []struct{ alone, steps, pause, amount int64 }{{0, 800, 900, 900}, {1000, 1300, 900, 9}} {
		b := &chargeBench{
			t: t, ledger: &mapLedger{t: t, entries: map[store.Key]store.Entry{}},
			limits: limitKeys(t), book: book{last: map[string]int64{}}, random: rand.New(rand.NewPCG(1, uint64(test.steps))), now: start.UnixMilli(),
		}
		for i := range test.steps {
			if i < test.alone { // fill the limits
				b.now += 1 + b.random.Int64N(30)
				b.take(uint16(i), []store.Charge{charge("x", 3), charge("y", 2)})
				continue
			}
			b.now += 1 + b.random.Int64N(test.pause)
			if b.random.IntN(50) == 0 {
				b.now -= b.random.Int64N(20 * test.pause)
			}
			by := uint16(i)
			if b.random.IntN(2) == 0 {
				by = uint16(b.random.IntN(int(i-test.alone)+1)) + uint16(test.alone)
			}
			if b.random.IntN(4) == 0 && i > 3 {
				by = uint16(i) - uint16(b.random.IntN(3))
			}
			list := b.charges(test.amount)
			switch b.random.IntN(10) {
			case 0:
				b.refund(by, list)
			case 1, 2:
				b.confirm(by, list)
			default:
				b.take(by, list)
			}
			b.compare(by)
			if t.Failed() {
				t.Fatalf("at step %d", i)
			}
		}
		if b.book.merged != (test.alone > 0) {
			t.Errorf("%d steps: buckets: %v", test.steps, b.book.merged)
		}
	}
}

// limitKeys returns the keys of the two limits.
func limitKeys(t *testing.T) map[store.Key]string {
	keys := map[store.Key]string{}
	for limit := range windows {
		l := &mapLedger{t: t, entries: map[store.Key]store.Entry{}}
		charges := store.Charges{List: []store.Charge{charge(limit, 1)}}
		if refusal, err := l.apply(charges.Take(start, nil)); refusal != nil || err != nil {
			t.Fatal(refusal, err)
		}
		keys[l.locked[0]] = limit
	}
	return keys
}

// charges returns charges against one limit or both, in either order, one perhaps in two parts.
// Sometimes the limits are lower than they were.
func (b *chargeBench) charges(amount int64) (list []store.Charge) {
	lower := b.random.IntN(10) == 0
	for _, limit := range [][]string{{"x"}, {"y"}, {"x", "y"}, {"y", "x"}, {"y", "x", "y"}}[b.random.IntN(5)] {
		one := charge(limit, b.random.Int64N(amount))
		if lower {
			one.Max = big.NewInt(amount / 2)
		}
		list = append(list, one)
	}
	return list
}

func totals(list []store.Charge) map[string]int64 {
	all := map[string]int64{}
	for _, one := range list {
		all[one.Limit] += one.Amount.Int64()
	}
	return all
}

func (b *chargeBench) spent(limit string, at int64) int64 {
	b.t.Helper()
	sum, _, err := store.Spent(b.ledger, charge(limit, 0), time.UnixMilli(at).Add(-ahead))
	testenv.Must(b.t, err)
	return sum.Int64()
}

func (b *chargeBench) take(by uint16, list []store.Charge) {
	all := totals(list)
	at := b.now
	for limit := range all {
		at = max(at, b.book.last[limit])
	}
	over, more, most := "", map[string]int64{}, list[0].Max.Int64()
	for limit, amount := range all {
		more[limit] = amount - b.book.sum(limit, at, 0, func(one uint16) bool { return one == by })
		if more[limit] > 0 && b.spent(limit, at)+more[limit] > most {
			over += limit
		}
	}
	before := maps.Clone(b.ledger.entries)
	charges := store.Charges{By: fingerprint(by), List: list}
	refusal, err := b.ledger.apply(charges.Take(b.caller(), nil))
	testenv.Must(b.t, err)
	if over != "" {
		b.refused(refusal, over, more, all, at, most)
		if !maps.EqualFunc(before, b.ledger.entries, func(a, b store.Entry) bool { return bytes.Equal(a.Value, b.Value) }) {
			b.t.Error("a refused charge was written")
		}
		return
	}
	if refusal != nil {
		b.t.Errorf("%v of %v: %v", more, all, refusal)
	}
	for limit := range all {
		b.book.last[limit] = at
		if more[limit] > 0 {
			b.book.list = append(b.book.list, charged{by, limit, at, more[limit]})
		}
	}
	for key, entry := range b.ledger.entries {
		if len(entry.Value) > 9+1000*11 {
			b.t.Errorf("an entry of %d bytes", len(entry.Value))
		}
		if until := entry.KeepUntil.UnixMilli(); key.Kind == store.KindLimit && b.limits[key] != "" {
			if limit := b.limits[key]; b.spent(limit, until) != 0 || b.spent(limit, until-1) == 0 && all[limit] > 0 && more[limit] > 0 {
				b.t.Errorf("the counts of %s are kept until %v", limit, entry.KeepUntil)
			}
		}
		if key.Kind == store.KindLimit && len(entry.Value) > 9+990*10 {
			b.book.merged = true // from about here on
		}
	}
}

// refused checks a refusal of the one limit, or of either.
func (b *chargeBench) refused(refusal error, over string, more, all map[string]int64, at, most int64) {
	limited, ok := errors.AsType[*store.LimitError](refusal)
	if !ok || !errors.Is(refusal, store.ErrLimit) || !strings.Contains(over, limited.Charge.Limit) {
		b.t.Fatalf("%v; a refusal by %s was expected", refusal, over)
	}
	limit := limited.Charge.Limit
	if want := max(0, most-b.spent(limit, at)); limited.Left.Int64() != want || limited.Charge.Amount.Int64() != all[limit] {
		b.t.Errorf("%v: expected %d left for %d", refusal, want, all[limit])
	}
	fits := at + limited.RetryAfter.Milliseconds()
	switch {
	case all[limit] > most:
		if limited.RetryAfter != 0 {
			b.t.Errorf("%v: it never fits", refusal)
		}
	case more[limit] == all[limit] && (b.spent(limit, fits)+more[limit] > most || b.spent(limit, fits-1)+more[limit] <= most):
		b.t.Errorf("%v: it does not fit from then on", refusal)
	}
}

func (b *chargeBench) refund(by uint16, list []store.Charge) {
	charges := store.Charges{By: fingerprint(by), List: list}
	if refusal, err := b.ledger.apply(charges.Refund(b.caller(), nil)); refusal != nil || err != nil {
		b.t.Fatal(refusal, err)
	}
	b.book.list = slices.DeleteFunc(b.book.list, func(one charged) bool {
		if one.by == by {
			b.book.last[one.limit] = max(b.book.last[one.limit], b.now)
		}
		return one.by == by
	})
}

func (b *chargeBench) confirm(by uint16, list []store.Charge) {
	var want error
	for limit, amount := range totals(list) {
		if b.book.sum(limit, b.now, 0, func(one uint16) bool { return one == by }) < amount {
			want = store.ErrUncharged
		}
	}
	charges := store.Charges{By: fingerprint(by), List: list}
	refusal, err := b.ledger.apply(charges.Confirm(b.caller(), nil))
	if !errors.Is(refusal, want) || err != nil || len(b.ledger.locked) > 0 {
		b.t.Errorf("confirmed: %v, %v, %d locked, want %v", refusal, err, len(b.ledger.locked), want)
	}
}

// compare compares what the limits have counted, with and without one request.
func (b *chargeBench) compare(by uint16) {
	for limit, window := range windows {
		at, bucket := max(b.now, b.book.last[limit]), (window.Milliseconds()+63)/64
		if !b.book.merged {
			bucket = 0
		}
		within := func(what string, got *big.Int, err error, counts func(uint16) bool) {
			least, atMost := b.book.sum(limit, at, 0, counts), b.book.sum(limit, at, max(0, bucket-1), counts)
			if err != nil || got.Int64() < least || got.Int64() > atMost {
				b.t.Errorf("%s has counted %v, %v: expected %d to %d %s", limit, got, err, least, atMost, what)
			}
		}
		sum, frees, err := store.Spent(b.ledger, charge(limit, 0), b.caller())
		within("by anyone", sum, err, anyone)
		if b.book.merged {
			continue
		}
		b.oldest(limit, at, frees)
		for _, by := range append(b.gone(limit, at), by) {
			count, err := store.CountOfOthers(b.ledger, fingerprint(by), charge(limit, 0), b.caller())
			testenv.Must(b.t, err)
			sum, frees = count.Spent(charge(limit, 0))
			within("by others", sum, err, func(one uint16) bool { return one != by })
			b.oldest(limit, at, frees)
		}
	}
}

// gone returns the requests whose charge has left the limit's window, though not by the
// clock, which went back since.
func (b *chargeBench) gone(limit string, at int64) (all []uint16) {
	window := windows[limit].Milliseconds()
	for _, one := range b.book.list {
		if one.limit == limit && one.at <= at-window && one.at > b.now-window {
			all = append(all, one.by)
		}
	}
	return all
}

func (b *chargeBench) oldest(limit string, at int64, frees time.Time) {
	var want time.Time
	for _, one := range b.book.list {
		if until := time.UnixMilli(one.at).Add(windows[limit]).UTC(); one.limit == limit && until.UnixMilli() > at && (want.IsZero() || until.Before(want)) {
			want = until
		}
	}
	if frees != want {
		b.t.Errorf("the oldest amount of %s leaves at %v, want %v", limit, frees, want)
	}
}

// TestChargeFails: if an operation of the ledger fails, so does the change. Damaged counts are
// errors as well.
func TestChargeFails(t *testing.T) {
	list := []store.Charge{charge("x", 1), charge("y", 2)}
	mine := store.Charges{By: store.Fingerprint{1}, List: list}
	l := &mapLedger{t: t, entries: map[store.Key]store.Entry{}}
	if refusal, err := l.apply(mine.Take(start, nil)); refusal != nil || err != nil {
		t.Fatal(refusal, err)
	}
	others := store.Charges{By: store.Fingerprint{2}, List: list}
	if refusal, err := l.apply(others.Take(start, nil)); refusal != nil || err != nil {
		t.Fatal(refusal, err)
	}
	more := store.Charges{By: store.Fingerprint{1}, List: []store.Charge{charge("x", 5), charge("y", 5)}}
	fails := func(ledger store.Ledger) (refusal, err error) {
		_, err = ledger.Read(store.Key{Kind: store.KindCode})
		return nil, err
	}
	changes := map[string]store.Change{
		"take": more.Take(start, store.ChangeFunc(fails)), "confirm": mine.Confirm(start, store.ChangeFunc(fails)), "refund": mine.Refund(start, store.ChangeFunc(fails)),
		"spent": store.ChangeFunc(func(ledger store.Ledger) (error, error) {
			_, _, err := store.Spent(ledger, charge("x", 0), start)
			return nil, err
		}),
		"spent by others": store.ChangeFunc(func(ledger store.Ledger) (error, error) {
			_, err := store.CountOfOthers(ledger, store.Fingerprint{1}, charge("x", 0), start)
			return nil, err
		}),
	}
	whole := maps.Clone(l.entries)
	for name, change := range changes {
		for l.fail = 1; ; l.fail++ {
			l.entries = maps.Clone(whole)
			refusal, err := l.apply(change)
			if l.ops < l.fail {
				break
			}
			if refusal != nil || !errors.Is(err, errLedger) {
				t.Errorf("%s: operation %d failed: %v, %v", name, l.fail, refusal, err)
			}
		}
		l.fail = 0
		for key, entry := range whole {
			damage := func(damaged []byte) {
				l.entries = maps.Clone(whole)
				l.entries[key] = store.Entry{Value: damaged}
				if _, err := l.apply(change); err != nil && !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("%s: %x: %v", name, damaged, err)
				}
			}
			for i := range entry.Value {
				damage(entry.Value[:i])
				damage(append(bytes.Clone(entry.Value), make([]byte, i+1)...))
			}
		}
	}
	// Each is read by one of the changes at least: half an entry, and a newer version.
	for key, entry := range whole {
		for name, damaged := range map[string][]byte{
			"cut in its last amount": entry.Value[:len(entry.Value)-1], "cut in a time": entry.Value[:12], "cut in the first number": entry.Value[:5],
			"of a newer version": append([]byte{2}, entry.Value[1:]...), "of version 0": append([]byte{0}, entry.Value[1:]...),
		} {
			l.entries = maps.Clone(whole)
			l.entries[key] = store.Entry{Value: damaged}
			by := mine
			if key == (store.Key{Kind: store.KindCharge, ID: others.By}) {
				by = others
			}
			for _, change := range []store.Change{by.Take(start, nil), by.Refund(start, nil)} {
				if refusal, err := l.apply(change); refusal != nil || !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("%c %s: %v, %v", key.Kind, name, refusal, err)
				}
			}
		}
	}
}

// TestChargeEntries: how long entries are kept, and that a refund leaves only counts.
func TestChargeEntries(t *testing.T) {
	l := &mapLedger{t: t, entries: map[store.Key]store.Entry{}}
	charges := store.Charges{By: store.Fingerprint{1}, List: []store.Charge{charge("x", 1), charge("y", 2)}}
	if refusal, err := l.apply(charges.Take(start, nil)); refusal != nil || err != nil {
		t.Fatal(refusal, err)
	}
	var kept []time.Duration
	for _, entry := range l.entries {
		kept = append(kept, entry.KeepUntil.Sub(start.Add(ahead)))
	}
	slices.Sort(kept)
	if want := []time.Duration{windows["x"], windows["y"], windows["y"]}; !slices.Equal(kept, want) {
		t.Errorf("kept for %v, want %v", kept, want)
	}
	empty := store.Charges{By: store.Fingerprint{1}}
	for name, change := range map[string]store.Change{"take": empty.Take(start, nil), "confirm": empty.Confirm(start, nil), "refund": empty.Refund(start, nil)} {
		if change != nil {
			t.Errorf("%s without charges: %v", name, change)
		}
	}
	refused := store.ChangeFunc(func(store.Ledger) (error, error) { return store.ErrUncharged, nil })
	for name, change := range map[string]store.Change{"take": charges.Take(start, refused), "confirm": charges.Confirm(start, refused), "refund": charges.Refund(start, refused)} {
		if refusal, err := l.apply(change); !errors.Is(refusal, store.ErrUncharged) || err != nil {
			t.Errorf("%s with a change that refuses: %v, %v", name, refusal, err)
		}
	}
	if len(l.entries) != 2 {
		t.Errorf("%d entries after the refund, want those of the two limits", len(l.entries))
	}
}

// TestChargeChecked: the bounds of charges.
func TestChargeChecked(t *testing.T) {
	largest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for name, test := range map[string]struct {
		change  func(*store.Charge)
		problem string // empty: valid
	}{
		"as it is":             {func(*store.Charge) {}, ""},
		"no name":              {func(c *store.Charge) { c.Limit = "" }, "a charge without the name of its limit"},
		"no subject":           {func(c *store.Charge) { c.Subject = "" }, ""},
		"no amount":            {func(c *store.Charge) { c.Amount = nil }, "store: limit x: expected amounts of 0 to 2^256-1"},
		"no maximum":           {func(c *store.Charge) { c.Max = nil }, "store: limit x: expected amounts of 0 to 2^256-1"},
		"amount 0":             {func(c *store.Charge) { c.Amount = new(big.Int) }, ""},
		"maximum 0":            {func(c *store.Charge) { c.Max = new(big.Int) }, ""},
		"negative amount":      {func(c *store.Charge) { c.Amount = big.NewInt(-1) }, "expected amounts"},
		"negative maximum":     {func(c *store.Charge) { c.Max = big.NewInt(-1) }, "expected amounts"},
		"largest amount":       {func(c *store.Charge) { c.Amount = largest }, ""},
		"largest maximum":      {func(c *store.Charge) { c.Max = largest }, ""},
		"amount too large":     {func(c *store.Charge) { c.Amount = new(big.Int).Add(largest, big.NewInt(1)) }, "expected amounts"},
		"maximum too large":    {func(c *store.Charge) { c.Max = new(big.Int).Add(largest, big.NewInt(1)) }, "expected amounts"},
		"shortest window":      {func(c *store.Charge) { c.Window = store.MinWindow }, ""},
		"longest window":       {func(c *store.Charge) { c.Window = store.MaxWindow }, ""},
		"window too short":     {func(c *store.Charge) { c.Window = store.MinWindow - 1 }, "store: limit x: expected a window of 1m0s to 744h0m0s, not 59.999999999s"},
		"window too long":      {func(c *store.Charge) { c.Window = store.MaxWindow + 1 }, "expected a window of 1m0s to 744h0m0s, not 744h0m0.000000001s"},
		"window of no time":    {func(c *store.Charge) { c.Window = 0 }, "expected a window"},
		"window of less":       {func(c *store.Charge) { c.Window = -time.Hour }, "expected a window"},
		"the second is wrong":  {nil, "a charge without the name of its limit"},
		"neither is the first": {func(c *store.Charge) { *c = store.Charge{} }, "a charge without the name of its limit"},
	} {
		one := charge("x", 1)
		charges := store.Charges{List: []store.Charge{one}}
		if test.change == nil {
			charges.List = append(charges.List, store.Charge{})
		} else {
			test.change(&charges.List[0])
		}
		err := charges.Check()
		if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v, want %s", name, err, test.problem)
		}
		l := &mapLedger{t: t, entries: map[store.Key]store.Entry{}}
		refusal, applied := l.apply(charges.Take(start, nil))
		if fmt.Sprint(applied) != fmt.Sprint(err) || err != nil && refusal != nil {
			t.Errorf("%s: applied: %v, %v, want %v", name, refusal, applied, err)
		}
	}
}

func TestLimitErrorText(t *testing.T) {
	one := store.Charge{Limit: "daily", Subject: "key", Amount: big.NewInt(7), Max: big.NewInt(10), Window: time.Hour}
	for after, want := range map[time.Duration]string{
		0:                         "limit daily: 7 is over the 3 left of 10 in 1h0m0s, and never fits",
		1500*time.Millisecond + 1: "limit daily: 7 is over the 3 left of 10 in 1h0m0s, and fits in 1.5s",
		time.Millisecond:          "limit daily: 7 is over the 3 left of 10 in 1h0m0s, and fits in 1ms",
	} {
		if got := (&store.LimitError{Charge: one, Left: big.NewInt(3), RetryAfter: after}).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestChargeUntil: an amount that is too old by the ledger's clock is not charged, and nothing else is.
func TestChargeUntil(t *testing.T) {
	for until, want := range map[time.Time]string{
		{}:                            "",
		start.Add(ahead):              "",
		start.Add(ahead - 1):          "limit value: the prices that it counts by were too old when it was charged",
		start.Add(-30 * time.Hour):    "limit value: the prices that it counts by were too old when it was charged",
		start.Add(1000 * time.Hour):   "",
		start.Add(ahead).In(time.UTC): "",
	} {
		ledger := &mapLedger{t: t, entries: map[store.Key]store.Entry{}}
		charge := store.Charge{Limit: "other", Subject: "s", Amount: big.NewInt(1), Max: big.NewInt(2), Window: time.Hour}
		dated := charge
		dated.Limit, dated.Until = "value", until
		charges := store.Charges{List: []store.Charge{charge, dated}}
		refusal, err := ledger.apply(charges.Take(start, nil))
		got := ""
		if refusal != nil {
			got = refusal.Error()
		}
		if err != nil || got != want || want != "" && (!errors.Is(refusal, store.ErrLimit) || len(ledger.entries) > 0) {
			t.Errorf("until %v: %v, %v, want %q", until, refusal, err, want)
		}
	}
}
