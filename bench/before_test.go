package bench

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// beforeEnv names the test binary of this package at another commit, with which
// BenchmarkBefore compares: make bench-before OLD=commit.
const beforeEnv = "COUNTERSIGN_BENCH_BEFORE"

// BenchmarkBefore sends requests over loopback to a server of this commit and to one of
// another commit, interleaved. Ratios are this commit's divided by the other's:
//
//	ratio            requests per second
//	cpu-ratio        processor time of an activity in the server and the database
//	cpu-µs           that time, and before-cpu-µs of the other commit
//	store-cpu-ratio  what the store and its database add to that time over a store in memory
func BenchmarkBefore(b *testing.B) {
	binary := os.Getenv(beforeEnv)
	if binary == "" {
		b.Skip("needs the test binary of another commit: make bench-before OLD=commit")
	}
	for _, clients := range []int{1, storeClients, 256} {
		var inMemory [2]float64
		for _, backend := range []string{"memory", "bolt", "postgres"} {
			b.Run(fmt.Sprintf("%s/clients=%d", backend, clients), func(b *testing.B) {
				now, before := compareCommits(b, binary, backend, clients)
				if backend == "memory" {
					inMemory = [2]float64{now, before}
				} else if inMemory[0] > 0 {
					b.ReportMetric((now-inMemory[0])/(before-inMemory[1]), "store-cpu-ratio")
				}
			})
		}
	}
}

// compareCommits reports the metrics of one store and number of clients. It returns the
// processor time of an activity, in µs, of both commits.
func compareCommits(b *testing.B, binary, backend string, clients int) (nowCPU, beforeCPU float64) {
	key := enginetest.NewAPIKey(b)
	size := loadSize(min(3000, 500*clients))
	runs := measure.Repeats(httpRuns + 2)
	requests := newLoad(b, key, runs*size)
	now, before := startCommitServer(b, os.Args[0], backend, key, clients), startCommitServer(b, binary, backend, key, clients)
	for run := range runs {
		first, second := now, before
		if run%2 == 1 {
			first, second = before, now
		}
		first.run(requests.part(run, size))
		second.run(requests.part(run, size))
	}
	report(b, now.outcomes, before.outcomes, "before")
	nowCPU, beforeCPU = measure.Median(now.processor), measure.Median(before.processor)
	b.ReportMetric(nowCPU/beforeCPU, "cpu-ratio")
	b.ReportMetric(nowCPU, "cpu-µs")
	b.ReportMetric(beforeCPU, "before-cpu-µs")
	b.ReportMetric(middle(before.outcomes, func(o outcome) float64 { return o.p50 }), "before-p50-ms")
	b.ReportMetric(middle(before.outcomes, func(o outcome) float64 { return o.p99 }), "before-p99-ms")
	now.stop()
	before.stop()
	return nowCPU, beforeCPU
}

// commitServer is the server of one commit, with its clients and measurements.
type commitServer struct {
	*server
	client    *client
	database  *testenv.PostgreSQL // nil: none
	outcomes  []outcome
	processor []float64 // µs of an activity, of each run
}

func startCommitServer(b *testing.B, binary, backend string, key *enginetest.APIKey, clients int) *commitServer {
	b.Helper()
	s := &commitServer{}
	serving := spec{Store: backend, PublicKey: key.PublicKey}
	if backend == "postgres" {
		s.database = testenv.Postgres(b)
		serving.At = s.database.DSN
	} else {
		serving = serverSpec(b, backend, key)
	}
	s.server = startServerOf(b, binary, serving)
	s.client = newClient(s.url, clients)
	return s
}

func (s *commitServer) run(part *load) {
	started := s.took()
	s.outcomes = append(s.outcomes, s.client.fire(s.b, part))
	s.processor = append(s.processor, float64((s.took()-started).Microseconds())/float64(len(part.bodies)))
}

// took returns the processor time used by the server and its database.
func (s *commitServer) took() time.Duration {
	took := testenv.ProcessorTime(s.pid)
	if s.database != nil {
		took += testenv.ProcessorTime(s.database.PID())
	}
	return took
}
