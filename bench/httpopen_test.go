package bench

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
)

// openRequests is how many requests the quantiles of an open loop are of: 100 of them are above
// the last.
const openRequests = 100_000

// BenchmarkHTTPOpen sends requests at a fixed rate, whether or not earlier ones are answered: at
// 50 % and 80 % of what the same server answers at most. A latency begins when the request was
// due, so that a stall counts for all requests that it delays.
func BenchmarkHTTPOpen(b *testing.B) {
	for _, backend := range []string{"memory", "bolt", "postgres"} {
		for _, percent := range []int{50, 80} {
			b.Run(fmt.Sprintf("%s/load=%d", backend, percent), func(b *testing.B) {
				openLoop(b, backend, percent)
			})
		}
	}
}

func openLoop(b *testing.B, backend string, percent int) {
	b.Helper()
	key := enginetest.NewAPIKey(b)
	server := startServer(b, serverSpec(b, backend, key))
	most, count := loadSize(6000), loadSize(openRequests)
	requests := newLoad(b, key, most+count)
	capacity := newClient(server.url, storeClients).fire(b, requests.between(0, most)).perSecond
	rate := capacity * float64(percent) / 100
	took := newClient(server.url, openSenders).due(b, requests.between(most, most+count), time.Duration(float64(time.Second)/rate))
	ending := server.stop()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(capacity, "capacity-req/s")
	b.ReportMetric(rate, "req/s")
	b.ReportMetric(float64(ending.CPU.Microseconds())/float64(most+count), "cpu-us/req")
	for unit, share := range map[string]float64{"p50-ms": .5, "p99-ms": .99, "p999-ms": .999} {
		b.ReportMetric(float64(measure.Quantile(took, share).Microseconds())/1000, unit)
	}
}

// openSenders bounds how many requests are unanswered at a time. More than that wait at the
// client, and their time counts.
const openSenders = 512

// due sends the requests of a load at a fixed interval and returns the sorted times from when
// each was due until its answer.
func (c *client) due(b *testing.B, l *load, interval time.Duration) []time.Duration {
	b.Helper()
	took := make([]time.Duration, len(l.bodies))
	waiting := make(chan int, len(l.bodies))
	start := time.Now()
	var senders sync.WaitGroup
	for range openSenders {
		senders.Go(func() {
			for i := range waiting {
				if err := c.send(l.bodies[i], l.headers[i]); err != nil {
					b.Error(err)
					return
				}
				took[i] = time.Since(start) - time.Duration(i)*interval
			}
		})
	}
	for i := 0; i < len(l.bodies) && !b.Failed(); i++ {
		time.Sleep(time.Until(start.Add(time.Duration(i) * interval)))
		waiting <- i
	}
	close(waiting)
	senders.Wait()
	slices.Sort(took)
	return took
}
