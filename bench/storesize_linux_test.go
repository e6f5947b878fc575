package bench

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
)

// storeSizes are how many activities a store has before it is measured.
var storeSizes = []int{0, 500_000, 1_000_000}

// BenchmarkStoreSize measures what an activity costs in a store that has many:
//
//	wall-ns    begin and complete, 64 clients
//	cpu-ns     processor time of this process
//	written-B  bytes written to the disk by this process
//	wall-ratio, cpu-ratio, written-ratio  the same in a store that began empty, in
//	           alternating rounds: what the activities that are there cost
//	none-cpu-ns  processor time of a list that finds nothing, by a type and a status
//	none-ns      the same on the clock, which includes the database
func BenchmarkStoreSize(b *testing.B) {
	for _, backend := range stores[1:] { // of those that have a disk
		b.Run(backend.name, func(b *testing.B) { growing(b, backend.open) })
	}
}

// growing fills a store once and measures it at each size. With -short it is a hundredth as
// large.
func growing(b *testing.B, open func(b *testing.B) store.Full) {
	s, filled := open(b), 0
	defer s.Close()
	for _, size := range storeSizes {
		if testing.Short() {
			size /= 100
		}
		fillStore(b, s, size-filled)
		filled = size
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			empty := open(b)
			defer empty.Close()
			compareSizes(b, s, empty)
			const rounds = 100
			cpu, start := testenv.OwnTime(b), time.Now()
			for range rounds {
				found, err := s.List(b.Context(), "org", store.Filter{Types: []string{"SIGN"}, Statuses: []string{"REJECTED"}, Limit: 100})
				if err != nil || len(found) > 0 {
					b.Fatal(len(found), err)
				}
			}
			b.ReportMetric(float64(testenv.OwnTime(b)-cpu)/rounds, "none-cpu-ns")
			b.ReportMetric(float64(time.Since(start))/rounds, "none-ns")
		})
	}
}

// sizeRounds and sizeActivities are how a large store is compared with an empty one: by the
// median of rounds that alternate, so that other load affects both.
const sizeRounds, sizeActivities = 9, 2000

// spent is what activities took: wall and processor time, and bytes.
type spent [3]float64

func compareSizes(b *testing.B, large, empty store.Store) {
	var of [2][len(spent{})][]float64
	for round := range measure.Repeats(sizeRounds) {
		for turn := range 2 {
			which := (round + turn) % 2
			for i, value := range spending(b, [2]store.Store{large, empty}[which]) {
				of[which][i] = append(of[which][i], value)
			}
		}
	}
	for i, unit := range []string{"wall", "cpu", "written"} {
		ratios := make([]float64, len(of[0][i]))
		for round := range ratios {
			ratios[round] = of[0][i][round] / of[1][i][round]
		}
		b.ReportMetric(measure.Median(of[0][i]), unit+map[bool]string{true: "-B", false: "-ns"}[unit == "written"])
		b.ReportMetric(measure.Median(ratios), unit+"-ratio")
	}
	b.ReportMetric(0, "ns/op")
}

// spending returns what one of sizeActivities took.
func spending(b *testing.B, s store.Store) (each spent) {
	cpu, written, start := testenv.OwnTime(b), bytesWritten(b), time.Now()
	storeMany(b, s, sizeActivities, storeClients)
	for i, total := range []float64{float64(time.Since(start)), float64(testenv.OwnTime(b) - cpu), float64(bytesWritten(b) - written)} {
		each[i] = total / sizeActivities
	}
	return each
}

// fillStore adds activities, as many to a commit as it takes.
func fillStore(b *testing.B, s store.Store, count int) {
	b.Helper()
	if count > 0 {
		storeMany(b, s, count, 256)
	}
}

// storeMany adds activities from as many clients at a time.
func storeMany(b *testing.B, s store.Store, count, fillers int) {
	b.Helper()
	data := make([]byte, recordSize)
	first := storeBodies.Add(uint64(count)) - uint64(count)
	var all sync.WaitGroup
	for filler := range fillers {
		all.Go(func() {
			for i := filler; i < count && !b.Failed(); i += fillers {
				storeActivity(b, s, first+uint64(i), data)
			}
		})
	}
	all.Wait()
}

func bytesWritten(b *testing.B) (written int64) {
	b.Helper()
	content := testenv.Read(b, "/proc/self/io")
	for line := range strings.Lines(string(content)) {
		if n, _ := fmt.Sscanf(line, "write_bytes: %d", &written); n == 1 {
			return written
		}
	}
	b.Fatal("/proc/self/io says nothing of what was written")
	return 0
}
