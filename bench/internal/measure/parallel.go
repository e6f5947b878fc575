package measure

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Parallel runs f from all cores at once, with a different counter for each call, and
// reports the latency of a call in addition to the time per operation:
//
//	p50-ns, p99-ns  quantiles over all calls
//
// Setup before the call is not timed.
func Parallel(b *testing.B, f func(i int)) {
	b.Helper()
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := int(next.Add(1) - 1)
			took[i] = timed(f, i)
		}
	})
	b.StopTimer()
	reportLatency(b, took)
}

// Serial is [Parallel] from one goroutine.
func Serial(b *testing.B, f func(i int)) {
	b.Helper()
	took := make([]time.Duration, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range took {
		took[i] = timed(f, i)
	}
	b.StopTimer()
	reportLatency(b, took)
}

func timed(f func(i int), i int) time.Duration {
	start := time.Now()
	f(i)
	return time.Since(start)
}

func reportLatency(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(Quantile(took, .50)), "p50-ns")
	b.ReportMetric(float64(Quantile(took, .99)), "p99-ns")
}

// Quantile returns the value below which a share of the sorted values lies: 0.5 is the
// median.
func Quantile[T any](sorted []T, share float64) T {
	return sorted[int(share*float64(len(sorted)-1))]
}
