package store

import (
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
