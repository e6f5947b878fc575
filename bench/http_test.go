package bench

import (
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
// is 0.7. cpu-ratio is the bare server's processor time divided by ours: unlike the rates, it
// does not depend on what the clients take of the same cores.
func BenchmarkHTTP(b *testing.B) {
	for _, backend := range []string{"memory", "bolt", "postgres"} {
		b.Run(backend, func(b *testing.B) {
			compareHTTP(b, backend, storeClients, measure.Repeats(httpRuns), loadSize(6000))
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

func compareHTTP(b *testing.B, backend string, clients, runs, size int) {
	b.Helper()
	compareServers(b, clients, runs, size, func(key *enginetest.APIKey) spec { return serverSpec(b, backend, key) })
}

// compareServers compares a server that takes requests by a key with the bare handler.
func compareServers(b *testing.B, clients, runs, size int, specOf func(key *enginetest.APIKey) spec) {
	b.Helper()
	key := enginetest.NewAPIKey(b)
	requests := newLoad(b, key, runs*size)
	compareArms(b, clients, runs, size, arm{"", specOf(key), requests}, arm{"bare", serverSpec(b, serveBare, key), requests})
}

// arm is a server, and the requests for it.
type arm struct {
	name string // in front of -req/s
	spec spec
	load *load
}

// client returns clients of the arm's server.
func (a *arm) client(of *server, count int) *client {
	c := newClient(of.url, count)
	if a.spec.path() == "/" {
		c.token = rpcToken
	}
	return c
}

// compareArms compares a server with another one, in alternating runs.
func compareArms(b *testing.B, clients, runs, size int, one, other arm) {
	b.Helper()
	ours, theirs := startServer(b, one.spec), startServer(b, other.spec)
	ourClient, theirClient := one.client(ours, clients), other.client(theirs, clients)
	var ourOutcomes, theirOutcomes []outcome
	for run := range runs {
		ourOutcomes = append(ourOutcomes, ourClient.fire(b, one.load.part(run, size)))
		theirOutcomes = append(theirOutcomes, theirClient.fire(b, other.load.part(run, size)))
	}
	report(b, ourOutcomes, theirOutcomes, other.name)
	ending, bare := ours.stop(), theirs.stop()
	each := float64(runs * size)
	b.ReportMetric(float64(ending.CPU.Microseconds())/each, "cpu-us/req")
	if bare.CPU > 0 {
		b.ReportMetric(float64(bare.CPU)/float64(ending.CPU), "cpu-ratio") // as ratio: above 1 we take less
	}
	b.ReportMetric(float64(ending.Objects)/each, "server-allocs/req")
	b.ReportMetric(float64(ending.Allocated)/each, "server-B/req")
	b.ReportMetric(float64(ending.PeakRSS)/1e6, "peak-RSS-MB")
	b.ReportMetric(float64(ending.Heap)/each, "kept-B/activity")
	if ending.Commits > 0 {
		b.ReportMetric(float64(ending.Completed)/float64(ending.Commits), "activities/fsync")
	}
}

// serverSpec returns the spec of a server over a store of its own.
func serverSpec(b *testing.B, backend string, key *enginetest.APIKey) spec {
	s := spec{Store: backend, PublicKey: key.PublicKey}
	switch backend {
	case "bolt":
		s.At = filepath.Join(b.TempDir(), "state.db")
	case "postgres":
		s.At = testenv.Postgres(b).DSN
	}
	return s
}

func report(b *testing.B, ours, theirs []outcome, name string) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	var ratios []float64
	for i := range ours {
		ratios = append(ratios, ours[i].perSecond/theirs[i].perSecond)
	}
	b.ReportMetric(measure.Median(ratios), "ratio")
	b.ReportMetric(middle(ours, func(o outcome) float64 { return o.perSecond }), "req/s")
	b.ReportMetric(middle(theirs, func(o outcome) float64 { return o.perSecond }), name+"-req/s")
	b.ReportMetric(middle(ours, func(o outcome) float64 { return o.p50 }), "p50-ms")
	b.ReportMetric(middle(ours, func(o outcome) float64 { return o.p99 }), "p99-ms")
	b.ReportMetric(middle(ours, func(o outcome) float64 { return o.p999 }), "p999-ms")
}

func middle(outcomes []outcome, of func(outcome) float64) float64 {
	var values []float64
	for _, one := range outcomes {
		values = append(values, of(one))
	}
	return measure.Median(values)
}
