package bench

import (
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// BenchmarkHTTPList sends lists of 20 transactions to a server as serve ships, and as many
// transactions in requests of their own to another. The ratio is the processor time of the servers for
// a transaction.
func BenchmarkHTTPList(b *testing.B) {
	for _, backend := range []string{"memory", "bolt", "postgres"} {
		for _, rules := range []bool{false, true} {
			name := backend
			if rules {
				name += "/rules"
			}
			b.Run(name, func(b *testing.B) {
				runs, size := measure.Repeats(httpRuns), loadSize(6000)
				key := enginetest.NewAPIKey(b)
				s := serverSpec(b, backend, key)
				s.Shipped, s.Rules = true, rules
				lists := serverSpec(b, backend, key)
				lists.Shipped, lists.Rules, lists.Lists = true, rules, true
				report := compareCPU(b, runs, func(int) {}, arm{"", lists, newLists(b, key, runs*size/listSize)}, arm{"single", s, newLoad(b, key, runs*size)})
				b.ReportMetric(report[0].Seconds()/report[1].Seconds(), "ratio")
				for i, name := range []string{"list-cpu-us/tx", "single-cpu-us/tx"} {
					b.ReportMetric(float64(report[i].Microseconds())/float64(runs*size), name)
				}
			})
		}
	}
}

// compareCPU sends the loads of two servers in alternating parts, and returns the processor time of each.
// It calls observe with -1 before the first part, and with 1 after the last.
func compareCPU(b *testing.B, runs int, observe func(sign int), arms ...arm) (took []time.Duration) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	servers := make([]*server, len(arms))
	for i := range arms {
		servers[i] = startServer(b, arms[i].spec)
	}
	observe(-1)
	for run := range runs {
		for i, one := range servers {
			newClient(one.url, storeClients*arms[i].spec.databases()).fire(b, arms[i].load.part(run, len(arms[i].load.bodies)/runs))
		}
	}
	observe(1)
	for _, one := range servers {
		took = append(took, one.stop().CPU)
	}
	return took
}

// databases returns how many databases a server has, or one.
func (s *spec) databases() int {
	if s.Second != "" {
		return 2
	}
	return 1
}

// BenchmarkHTTPDatabases sends the requests of 16 organizations to a server with two databases and to
// one with one, by 64 clients for each database, which is a server of PostgreSQL by itself, all on this machine. Two cores cannot show more
// requests per second; the ratio is what the databases could answer: the processor time of the one
// database for a request, relative to that of the busier one of two. Databases have the lowest priority,
// so that they are what requests wait for.
func BenchmarkHTTPDatabases(b *testing.B) {
	runs, size := measure.Repeats(httpRuns), loadSize(6000)
	var databases [3]*testenv.PostgreSQL // two of the first server, one of the second
	for i := range databases {
		databases[i] = testenv.Postgres(b)
		testenv.Must(b, syscall.Setpriority(syscall.PRIO_PROCESS, databases[i].PID(), 19))
	}
	two := manyArm(b, "memory", tenantCount, 1, runs*size)
	two.spec.Store, two.spec.At, two.spec.Second = "postgres", databases[0].DSN, databases[1].DSN
	one := manyArm(b, "memory", tenantCount, 1, runs*size)
	one.spec.Store, one.spec.At = "postgres", databases[2].DSN
	var each [3]float64 // microseconds of a request
	servers := compareCPU(b, runs, func(sign int) {
		for i, database := range databases {
			each[i] += float64(sign) * float64(testenv.ProcessorTime(database.PID()).Microseconds()) / float64(runs*size)
		}
	}, two, one)
	for i, name := range []string{"first-cpu-us/req", "second-cpu-us/req", "only-cpu-us/req"} {
		b.ReportMetric(each[i], name)
	}
	b.ReportMetric(each[2]/max(each[0], each[1]), "ratio")
	b.ReportMetric(servers[0].Seconds()/servers[1].Seconds(), "server-cpu-ratio")
}
