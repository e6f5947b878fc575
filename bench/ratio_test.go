// Package bench measures the engine: the whole path from raw hex to signed hex,
// each part of it, and both beside the bare operation on the curve.
//
//	go test ./bench -run '^$' -bench Ethereum
//
// Compare the ratios, not the nanoseconds: they hold from machine to machine.
package bench

import (
	"slices"
	"testing"
	"time"
)

// pairs is how many interleaved pairs a ratio is the median of.
const pairs = 201

// batch is how long one side of a pair runs: long enough for the clock, short
// enough that both sides of a pair meet the same machine.
const batch = 4 * time.Millisecond

// ratio reports what ours costs beside theirs: the median over interleaved pairs
// in one run. Both get a counter that rises by one from call to call, to rotate
// their inputs by. b.N has no meaning here: a ratio is as exact as its pairs are
// many, and all of them take longer than the second that a benchmark runs for.
func ratio(b *testing.B, ours, theirs func(i int)) {
	b.Helper()
	calls := callsPerBatch(theirs)
	var ratios, nanoseconds []float64
	at := 0
	for pair := range pairs {
		// Who goes first changes, so that neither always has the warm caches.
		var a, z time.Duration
		if pair%2 == 0 {
			a, z = run(ours, at, calls), run(theirs, at, calls)
		} else {
			z, a = run(theirs, at, calls), run(ours, at, calls)
		}
		at += calls
		ratios = append(ratios, float64(a)/float64(z))
		nanoseconds = append(nanoseconds, float64(a)/float64(calls))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(nanoseconds), "ns/ours")
	b.ReportMetric(median(nanoseconds)/median(ratios), "ns/theirs")
}

func callsPerBatch(f func(i int)) int {
	calls := 1
	for run(f, 0, calls) < batch {
		calls *= 2
	}
	return calls
}

func run(f func(i int), from, calls int) time.Duration {
	start := time.Now()
	for i := range calls {
		f(from + i)
	}
	return time.Since(start)
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
