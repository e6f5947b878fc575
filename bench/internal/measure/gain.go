package measure

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// gainRounds is the number of rounds of which a gain is the median. A round starts new
// goroutines, so it runs gainCalls times as long as a side of a pair.
const gainRounds, gainCalls = 11, 16

// Gain reports how much faster two cores are than one, for ours and for theirs,
// as medians over interleaved rounds:
//
//	gain-ours    calls per second of ours: on two cores divided by on one
//	gain-theirs  the same for theirs
//	gain-ratio   gain-ours divided by gain-theirs: 1 if ours scales as well
//
// A round runs both, each on one core and on two, in an order that changes from
// round to round, so that other load on the machine affects all four equally.
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

// gainLane is one side of a gain: ours or theirs.
type gainLane struct {
	f     func(i int)
	calls int // on each core
	next  int // the counter of the next call
	gains []float64
}

func newGainLane(f func(i int)) gainLane {
	l := lane{timer: Calls(f)}
	l.calibrate()
	return gainLane{f: f, calls: l.calls * gainCalls, next: l.next}
}

// run times one core and two, in one order or the other.
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

// onCores runs all calls on each of n cores concurrently.
func (l *gainLane) onCores(cores int) time.Duration {
	runtime.GOMAXPROCS(cores)
	var done sync.WaitGroup
	start := time.Now()
	for range cores {
		from := l.next
		l.next += l.calls
		done.Go(func() {
			for i := range l.calls {
				l.f(from + i)
			}
		})
	}
	done.Wait()
	return time.Since(start)
}
