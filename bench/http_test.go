package bench

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// httpRuns is the number of runs of a load, alternating between our server and the bare
// handler, of which the figures are the medians.
const httpRuns = 3

// BenchmarkHTTP sends requests over loopback to a server in its own process on the same
// machine: ours over each store, and a bare handler, alternating. The ratio is our
// requests per second divided by the bare handler's; the target over a store in memory
// is 0.7.
func BenchmarkHTTP(b *testing.B) {
	for _, kept := range []string{"memory", "bolt", "postgres"} {
		b.Run(kept, func(b *testing.B) {
			httpBeside(b, kept, storeClients, measure.Repeats(httpRuns), loadSize(6000))
		})
	}
}

// BenchmarkHTTPClients is BenchmarkHTTP over a store in memory, by the number of
// clients.
func BenchmarkHTTPClients(b *testing.B) {
	for _, clients := range []int{1, 2, 4, 8, 16, 32, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			httpBeside(b, "memory", clients, measure.Repeats(3), loadSize(3000))
		})
	}
}

// loadSize returns the number of requests of a run: enough for a meaningful p99, or a
// few in a short run.
func loadSize(full int) int {
	if testing.Short() {
		return min(full, 200)
	}
	return full
}

func httpBeside(b *testing.B, kept string, clients, runs, size int) {
	b.Helper()
	key := enginetest.NewAPIKey(b)
	all := newLoad(b, key, runs*size)
	ours, theirs := startServer(b, serverSpec(b, kept, key)), startServer(b, serverSpec(b, serveBare, key))
	mine, bare := newClient(ours.url, clients), newClient(theirs.url, clients)
	var own, other []outcome
	for run := range runs {
		part := all.part(run, size)
		own, other = append(own, mine.fire(b, part)), append(other, bare.fire(b, part))
	}
	report(b, own, other)
	last := ours.stop()
	theirs.stop()
	b.ReportMetric(float64(last.PeakRSS)/1e6, "peak-RSS-MB")
	b.ReportMetric(float64(last.Heap)/float64(runs*size), "kept-B/activity")
	if last.Commits > 0 {
		b.ReportMetric(float64(last.Completed)/float64(last.Commits), "activities/fsync")
	}
}

// serverSpec returns the spec of a server over a store of its own.
func serverSpec(b *testing.B, kept string, key *enginetest.APIKey) spec {
	made := spec{Store: kept, PublicKey: key.PublicKey}
	switch kept {
	case "bolt":
		made.At = filepath.Join(b.TempDir(), "state.db")
	case "postgres":
		made.At = testenv.Postgres(b).DSN
	}
	return made
}

func report(b *testing.B, mine, theirs []outcome) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	var ratios []float64
	for i := range mine {
		ratios = append(ratios, mine[i].perSecond/theirs[i].perSecond)
	}
	b.ReportMetric(measure.Median(ratios), "ratio")
	b.ReportMetric(middle(mine, func(o outcome) float64 { return o.perSecond }), "req/s")
	b.ReportMetric(middle(theirs, func(o outcome) float64 { return o.perSecond }), "bare-req/s")
	b.ReportMetric(middle(mine, func(o outcome) float64 { return o.p50 }), "p50-ms")
	b.ReportMetric(middle(mine, func(o outcome) float64 { return o.p99 }), "p99-ms")
	b.ReportMetric(middle(mine, func(o outcome) float64 { return o.p999 }), "p999-ms")
}

func middle(outcomes []outcome, of func(outcome) float64) float64 {
	var values []float64
	for _, one := range outcomes {
		values = append(values, of(one))
	}
	return measure.Median(values)
}
