// Package measure is how the benchmarks measure: ratios in interleaved pairs,
// and loops whose inputs rotate. bench and bench/peers share it, so that all
// chains and all peers are measured by one method.
package measure

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// DefaultPairs is how many interleaved pairs a ratio is the median of.
const DefaultPairs = 501

// side is how long one side of a pair runs at the least: long enough for the
// clock, and short beside the slices of time that the scheduler hands out, so
// that most pairs are not torn by it and their median holds on a busy machine.
const side = 500 * time.Microsecond

// Timer runs something so many times, with a counter that rises by one from
// call to call and starts at from, and returns how long that took.
type Timer func(from, calls int) time.Duration

// Calls is the Timer of a function of this process.
func Calls(f func(i int)) Timer {
	return func(from, calls int) time.Duration {
		start := time.Now()
		for i := range calls {
			f(from + i)
		}
		return time.Since(start)
	}
}

// Ratio reports what ours costs beside theirs, as the median over interleaved
// pairs in one run:
//
//	ratio      ours divided by theirs
//	ns/ours    one call of ours
//	ns/theirs  one call of theirs
//
// b.N has no meaning here: a ratio is as exact as its pairs are many, and all of
// them together are what the benchmark runs for.
func Ratio(b *testing.B, ours, theirs func(i int)) {
	b.Helper()
	Pairs(b, DefaultPairs, Calls(ours), Calls(theirs))
}

// Pairs is Ratio for two timers, one of which may time another process, and a
// number of pairs. Who goes first changes from pair to pair, so that neither
// always has the warm caches. Each side runs as many calls as it needs for the
// clock, so that a slow peer does not stretch the fast side.
func Pairs(b *testing.B, pairs int, ours, theirs Timer) {
	b.Helper()
	a, z := lane{timer: ours}, lane{timer: theirs}
	a.calibrate()
	z.calibrate()
	pairs = Repeats(pairs)
	for pair := range pairs {
		if pair%2 == 0 {
			a.run()
			z.run()
		} else {
			z.run()
			a.run()
		}
	}
	ratios := make([]float64, pairs)
	for i := range ratios {
		ratios[i] = a.perCall[i] / z.perCall[i]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(Median(ratios), "ratio")
	b.ReportMetric(Median(a.perCall), "ns/ours")
	b.ReportMetric(Median(z.perCall), "ns/theirs")
}

// lane is one side of the pairs.
type lane struct {
	timer   Timer
	calls   int
	at      int
	perCall []float64 // nanoseconds
}

// calibrate finds how many calls fill a side. The fastest of three counts: one
// that was interrupted says nothing.
func (l *lane) calibrate() {
	for l.calls = 1; ; l.calls *= 2 {
		fastest := time.Duration(math.MaxInt64)
		for range 3 {
			fastest = min(fastest, l.timer(l.at, l.calls))
			l.at += l.calls
		}
		if fastest >= side {
			return
		}
	}
}

func (l *lane) run() {
	l.perCall = append(l.perCall, float64(l.timer(l.at, l.calls))/float64(l.calls))
	l.at += l.calls
}

// gainRounds is how many rounds a gain is the median of. A round starts its
// goroutines anew, so that it runs gainCalls times as long as a side of a pair.
const gainRounds, gainCalls = 61, 16

// Gain reports how much faster two cores are than one, for ours and for theirs,
// as medians over interleaved rounds:
//
//	gain-ours    calls per second on two cores, by those on one
//	gain-theirs  the same of theirs
//	gain-ratio   the one by the other: 1 if ours loses nothing of its own
//
// A round runs both, each on one core and on two, in an order that turns from
// round to round: what the machine does meanwhile meets all four alike.
func Gain(b *testing.B, ours, theirs func(i int)) {
	b.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	lanes := [2]gainLane{newGainLane(ours), newGainLane(theirs)}
	rounds := Repeats(gainRounds)
	var ratios []float64
	for round := range rounds {
		first := round % 2
		lanes[first].run(round/2%2 == 0)
		lanes[1-first].run(round/2%2 == 0)
		ratios = append(ratios, lanes[0].gains[round]/lanes[1].gains[round])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(Median(lanes[0].gains), "gain-ours")
	b.ReportMetric(Median(lanes[1].gains), "gain-theirs")
	b.ReportMetric(Median(ratios), "gain-ratio")
}

// gainLane is one side of a gain.
type gainLane struct {
	f     func(i int)
	calls int // on each core
	at    int
	gains []float64
}

func newGainLane(f func(i int)) gainLane {
	l := lane{timer: Calls(f)}
	l.calibrate()
	return gainLane{f: f, calls: l.calls * gainCalls, at: l.at}
}

// run times one core and two, in this order or the other.
func (l *gainLane) run(oneFirst bool) {
	var took [2]time.Duration
	for turn := range 2 {
		cores := turn
		if !oneFirst {
			cores = 1 - turn
		}
		took[cores] = l.onCores(cores + 1)
	}
	l.gains = append(l.gains, 2*float64(took[0])/float64(took[1])) // two cores do twice the calls
}

// onCores runs all calls on each of so many cores at once.
func (l *gainLane) onCores(cores int) time.Duration {
	runtime.GOMAXPROCS(cores)
	var done sync.WaitGroup
	start := time.Now()
	for range cores {
		from := l.at
		l.at += l.calls
		done.Go(func() {
			for i := range l.calls {
				l.f(from + i)
			}
		})
	}
	done.Wait()
	return time.Since(start)
}

// Repeats is how often something is to be measured: so often, or three times in
// a short run, which is to see that everything runs and not how fast.
func Repeats(full int) int {
	if testing.Short() {
		return min(full, 3)
	}
	return full
}

// Loop runs f with a rising counter for as long as the benchmark wants, and
// counts allocations.
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
