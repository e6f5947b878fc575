package store

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// A tally keeps up to maxExact amounts to the millisecond. Beyond that they are merged
// into buckets of a 64th of the window, each counted as if charged at the end of its
// bucket, so that a sum is never too low.
const (
	maxExact = 1000
	buckets  = 64
)

// tally is what a limit has counted for one subject.
type tally struct {
	last   int64 // milliseconds since the epoch; never decreases
	counts []count
}

// count is an amount and when it was charged.
type count struct {
	at     int64 // milliseconds since the epoch
	amount *big.Int
}

// prune removes the amounts that have left the window.
func (t *tally) prune(now int64, window time.Duration) {
	t.counts = slices.DeleteFunc(t.counts, func(one count) bool { return one.at <= now-window.Milliseconds() })
}

func (t *tally) sum() *big.Int {
	sum := new(big.Int)
	for _, one := range t.counts {
		sum.Add(sum, one.amount)
	}
	return sum
}

// add counts an amount. The counts stay sorted by time.
func (t *tally) add(at int64, amount *big.Int, window time.Duration) {
	t.insert(at, amount)
	if len(t.counts) <= maxExact {
		return
	}
	before := t.counts
	t.counts = nil
	for _, one := range before {
		t.insert(bucketEnd(one.at, window), one.amount)
	}
}

func (t *tally) insert(at int64, amount *big.Int) {
	i, there := t.find(at)
	if there {
		t.counts[i].amount = new(big.Int).Add(t.counts[i].amount, amount)
		return
	}
	t.counts = slices.Insert(t.counts, i, count{at, amount})
}

func (t *tally) find(at int64) (int, bool) {
	return slices.BinarySearchFunc(t.counts, at, func(one count, at int64) int {
		switch {
		case one.at < at:
			return -1
		case one.at > at:
			return 1
		}
		return 0
	})
}

// remove takes back an amount that was added at a time, from there or from the bucket
// into which it was merged since.
func (t *tally) remove(at int64, amount *big.Int, window time.Duration) {
	for _, at := range [...]int64{at, bucketEnd(at, window)} {
		i, there := t.find(at)
		if there && t.counts[i].amount.Cmp(amount) >= 0 {
			t.counts[i].amount = new(big.Int).Sub(t.counts[i].amount, amount)
			return
		}
	}
}

// bucketEnd rounds a time up to the end of its bucket.
func bucketEnd(at int64, window time.Duration) int64 {
	length := (window.Milliseconds() + buckets - 1) / buckets
	return (at + length - 1) / length * length
}

// free returns how long from now until the amount fits.
func (t *tally) free(now int64, charge *Charge, sum, amount *big.Int) time.Duration {
	over := new(big.Int).Add(sum, amount)
	over.Sub(over, charge.Max)
	for _, one := range t.counts {
		if over.Sub(over, one.amount); over.Sign() <= 0 {
			return time.Duration(one.at+charge.Window.Milliseconds()-now) * time.Millisecond
		}
	}
	return 0
}

// part is one charge in a request's receipt.
type part struct {
	limit  Key
	at     int64
	window time.Duration
	amount *big.Int
}

// receipt is what one request was charged.
type receipt []part

func receiptKey(by Fingerprint) Key { return Key{KindCharge, by} }

func readReceipt(ledger Ledger, by Fingerprint) (receipt, error) {
	entry, err := ledger.Read(receiptKey(by))
	if err != nil {
		return nil, err
	}
	return parseReceipt(entry.Value)
}

// charged returns what the request was charged against a limit and is still within
// the window.
func (r receipt) charged(limit Key, now int64) *big.Int {
	sum := new(big.Int)
	for _, one := range r {
		if one.limit == limit && one.at+one.window.Milliseconds() > now {
			sum.Add(sum, one.amount)
		}
	}
	return sum
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
	for _, one := range r {
		until = max(until, one.at+one.window.Milliseconds())
	}
	return time.UnixMilli(until).UTC()
}

// refund takes back all charges of the receipt.
func (r receipt) refund(ledger Ledger, by Fingerprint, now time.Time) error {
	if len(r) == 0 {
		return nil
	}
	var keys []Key
	for _, one := range r {
		if !slices.Contains(keys, one.limit) {
			keys = append(keys, one.limit)
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
		for _, one := range r {
			if one.limit == key {
				counted.remove(one.at, one.amount, one.window)
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
	for _, one := range list {
		keys = append(keys, one.key)
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
		one, counted := &a.list[i], &a.tallies[i]
		counted.prune(a.now, one.Window)
		more := new(big.Int).Sub(one.Amount, a.receipt.charged(one.key, a.now))
		if more.Sign() <= 0 {
			continue
		}
		sum := counted.sum()
		if new(big.Int).Add(sum, more).Cmp(one.Max) > 0 {
			left := new(big.Int).Sub(one.Max, sum)
			if left.Sign() < 0 {
				left.SetInt64(0)
			}
			return &LimitError{Charge: one.Charge, Left: left, RetryAfter: a.retryAfter(i, sum, more)}
		}
		counted.add(a.now, more, one.Window)
		a.receipt = append(a.receipt, part{one.key, a.now, one.Window, more})
	}
	return nil
}

func (a *account) retryAfter(i int, sum, more *big.Int) time.Duration {
	if a.list[i].Amount.Cmp(a.list[i].Max) > 0 {
		return 0
	}
	return a.tallies[i].free(a.now, &a.list[i].Charge, sum, more)
}

func (a *account) save(ledger Ledger) error {
	for i, counted := range a.tallies {
		counted.last = a.now
		until := a.now
		if n := len(counted.counts); n > 0 {
			until = max(until, counted.counts[n-1].at)
		}
		keep := time.UnixMilli(until).Add(a.list[i].Window).UTC()
		if err := ledger.Write(a.list[i].key, Entry{counted.encode(), keep}); err != nil {
			return err
		}
	}
	return ledger.Write(receiptKey(a.by), Entry{a.receipt.encode(), a.receipt.keepUntil()})
}

// chargeVersion is the first byte of both encodings:
//
//	tally    version 1 ‖ last 8 ‖ n × { at 8 ‖ length 1 ‖ amount }
//	receipt  version 1 ‖ n × { kind 1 ‖ id 32 ‖ at 8 ‖ window 8 ‖ length 1 ‖ amount }
//
// Numbers are big-endian; times and windows are in milliseconds.
const chargeVersion = 1

var errDamaged = fmt.Errorf("%w: the counts of a limit are damaged, or were written by a newer version", ErrUnavailable)

func (t *tally) encode() []byte {
	out := make([]byte, 0, 9+20*len(t.counts))
	out = binary.BigEndian.AppendUint64(append(out, chargeVersion), uint64(t.last))
	for _, one := range t.counts {
		if one.amount.Sign() > 0 {
			out = appendAmount(binary.BigEndian.AppendUint64(out, uint64(one.at)), one.amount)
		}
	}
	return out
}

func parseTally(in []byte) (t tally, err error) {
	if len(in) == 0 {
		return t, nil
	}
	r := amountReader{in: in}
	if r.take(1)[0] != chargeVersion {
		return t, errDamaged
	}
	t.last = r.int64()
	for len(r.in) > 0 && !r.short {
		t.counts = append(t.counts, count{r.int64(), r.amount()})
	}
	return t, r.err()
}

func (r receipt) encode() []byte {
	out := []byte{chargeVersion}
	for _, one := range r {
		out = append(out, one.limit.Bytes()...)
		out = binary.BigEndian.AppendUint64(out, uint64(one.at))
		out = binary.BigEndian.AppendUint64(out, uint64(one.window.Milliseconds()))
		out = appendAmount(out, one.amount)
	}
	return out
}

func parseReceipt(in []byte) (parsed receipt, err error) {
	if len(in) == 0 {
		return nil, nil
	}
	r := amountReader{in: in}
	if r.take(1)[0] != chargeVersion {
		return nil, errDamaged
	}
	for len(r.in) > 0 && !r.short {
		kind := Kind(r.take(1)[0])
		parsed = append(parsed, part{
			limit: Key{kind, [32]byte(r.take(32))}, at: r.int64(),
			window: time.Duration(r.int64()) * time.Millisecond, amount: r.amount(),
		})
	}
	return parsed, r.err()
}

func appendAmount(out []byte, amount *big.Int) []byte {
	magnitude := amount.Bytes()
	return append(append(out, byte(len(magnitude))), magnitude...)
}

// amountReader reads both encodings. Past the end it reads zeros and sets short.
type amountReader struct {
	in    []byte
	short bool
}

func (r *amountReader) take(n int) []byte {
	if n > len(r.in) {
		r.short, r.in = true, nil
		return make([]byte, n)
	}
	taken := r.in[:n]
	r.in = r.in[n:]
	return taken
}

func (r *amountReader) int64() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }

func (r *amountReader) amount() *big.Int {
	return new(big.Int).SetBytes(r.take(int(r.take(1)[0])))
}

func (r *amountReader) err() error {
	if r.short {
		return errDamaged
	}
	return nil
}
