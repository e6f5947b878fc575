// Package measure has the measuring loops of the benchmarks: ratios over
// interleaved pairs, and loops whose inputs rotate. bench and bench/peers share
// it, so that every chain and every peer is measured in the same way.
package measure

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"
)

// DefaultPairs is the number of interleaved pairs in one sample of a ratio.
const DefaultPairs = 101

// side is the minimum duration of one side of a pair: long enough for the clock, and
// short relative to the time slices of the scheduler, so that most pairs are not
// interrupted and their median holds on a busy machine.
const side = 500 * time.Microsecond

// longRun is about how long a long run takes. Most sides are between two garbage collections,
// which a long run cannot avoid.
const longRun = 200 * side

// Timer runs an operation n times, with a counter that starts at from and increases by
// one with each call, and returns the duration.
type Timer func(from, calls int) time.Duration

// Calls returns the Timer of a function of this process.
func Calls(f func(i int)) Timer {
	return func(from, calls int) time.Duration {
		start := time.Now()
		for i := range calls {
			f(from + i)
		}
		return time.Since(start)
	}
}

// Ratio reports the cost of ours relative to theirs, as the median over
// interleaved pairs in one run:
//
//	ratio      ours divided by theirs
//	mean-ratio the same by the mean of long runs: garbage collections count
//	ns/ours    one call of ours
//	ns/theirs  one call of theirs
//	allocs/…   the objects that a call of each allocates in this process
//	B/…        the bytes that they have
//
// b.N is ignored: the precision of a ratio depends on the number of pairs, which
// is fixed.
func Ratio(b *testing.B, ours, theirs func(i int)) {
	b.Helper()
	Pairs(b, DefaultPairs, Calls(ours), Calls(theirs))
}

// Pairs is Ratio for two timers, one of which may time another process, and a number of
// pairs. The sides take turns going first, so that neither always has warm caches. Each
// side runs as many calls as it needs for the clock, so that a slow peer does not
// prolong the fast side.
func Pairs(b *testing.B, pairs int, ours, theirs Timer) {
	b.Helper()
	our, their := lane{timer: ours}, lane{timer: theirs}
	our.calibrate()
	their.calibrate()
	pairs = Repeats(pairs)
	for pair := range pairs {
		if pair%2 == 0 {
			our.run()
			their.run()
		} else {
			their.run()
			our.run()
		}
	}
	ratios := make([]float64, pairs)
	for i := range ratios {
		ratios[i] = our.perCall[i] / their.perCall[i]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(Median(ratios), "ratio")
	b.ReportMetric(means(&our, &their), "mean-ratio")
	b.ReportMetric(Median(our.perCall), "ns/ours")
	b.ReportMetric(Median(their.perCall), "ns/theirs")
	our.reportAllocations(b, "ours")
	their.reportAllocations(b, "theirs")
}

// lane is one side of the pairs: ours or theirs.
type lane struct {
	timer   Timer
	calls   int
	next    int       // the counter of the next call
	perCall []float64 // nanoseconds
}

// calibrate finds how many calls fill a side. The fastest of three attempts counts: one
// that was interrupted says nothing.
func (l *lane) calibrate() {
	for l.calls = 1; ; l.calls *= 2 {
		fastest := time.Duration(math.MaxInt64)
		for range 3 {
			fastest = min(fastest, l.timer(l.next, l.calls))
			l.next += l.calls
		}
		if fastest >= side {
			return
		}
	}
}

func (l *lane) run() {
	l.perCall = append(l.perCall, float64(l.timer(l.next, l.calls))/float64(l.calls))
	l.next += l.calls
}

// means returns the ratio of the means of two long runs of each side.
func means(ours, theirs *lane) float64 {
	first, other := ours.long(), theirs.long()
	other += theirs.long()
	first += ours.long()
	return first / other
}

// long returns the nanoseconds of a call in a long run.
func (l *lane) long() float64 {
	calls := max(l.calls, int(float64(longRun)/Median(l.perCall)))
	if testing.Short() {
		calls = l.calls
	}
	took := l.timer(l.next, calls)
	l.next += calls
	return float64(took) / float64(calls)
}

// reportAllocations reports what one call allocates, on average.
func (l *lane) reportAllocations(b *testing.B, side string) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l.timer(l.next, l.calls)
	runtime.ReadMemStats(&after)
	l.next += l.calls
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(l.calls), "allocs/"+side)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(l.calls), "B/"+side)
}

// Repeats returns how often to measure: n times, or three times in a short run, which
// only shows that everything runs.
func Repeats(full int) int {
	if testing.Short() {
		return min(full, 3)
	}
	return full
}

// Loop runs f with an increasing counter for as long as the benchmark wants, and counts
// allocations.
func Loop(b *testing.B, f func(i int)) {
	b.Helper()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		f(i)
		i++
	}
}

// Median returns the middle of the values.
func Median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
