package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/postgres"
)

// storeSizes are how many activities a store has before it is measured.
var storeSizes = []int{0, 500_000, 1_000_000}

// BenchmarkStoreSize measures what an activity costs in a store that has many:
//
//	wall-ns    begin and complete, 64 clients
//	cpu-ns     processor time of this process
//	written-B  bytes written to the disk by this process
//	none-cpu-ns  processor time of a list that finds nothing, by a type and a status
//	none-ns      the same on the clock, which includes the database
func BenchmarkStoreSize(b *testing.B) {
	b.Run("bolt", func(b *testing.B) {
		s, err := bolt.Open(filepath.Join(b.TempDir(), "store"))
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		growing(b, s)
	})
	b.Run("postgres", func(b *testing.B) {
		s, err := postgres.Open(b.Context(), testenv.Postgres(b).DSN)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		growing(b, s)
	})
}

// growing fills a store and measures it at each size. With -short it is a hundredth as large.
func growing(b *testing.B, s store.Full) {
	filled := 0
	for _, size := range storeSizes {
		if testing.Short() {
			size /= 100
		}
		fillStore(b, s, size-filled)
		filled = size
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			cpu, written := ownTime(b), bytesWritten(b)
			storeConcurrently(b, s)
			b.ReportMetric(float64(ownTime(b)-cpu)/float64(b.N), "cpu-ns")
			b.ReportMetric(float64(bytesWritten(b)-written)/float64(b.N), "written-B")
			const rounds = 100
			cpu, start := ownTime(b), time.Now()
			for range rounds {
				found, err := s.List(b.Context(), "org", store.Filter{Types: []string{"SIGN"}, Statuses: []string{"REJECTED"}, Limit: 100})
				if err != nil || len(found) > 0 {
					b.Fatal(len(found), err)
				}
			}
			b.ReportMetric(float64(ownTime(b)-cpu)/rounds, "none-cpu-ns")
			b.ReportMetric(float64(time.Since(start))/rounds, "none-ns")
		})
	}
}

// fillStore adds activities.
func fillStore(b *testing.B, s store.Store, count int) {
	b.Helper()
	if count <= 0 {
		return
	}
	data := make([]byte, recordSize)
	first := storeBodies.Add(uint64(count)) - uint64(count)
	var all sync.WaitGroup
	const fillers = 256
	for filler := range fillers {
		all.Go(func() {
			for i := filler; i < count && !b.Failed(); i += fillers {
				storeActivity(b, s, first+uint64(i), data)
			}
		})
	}
	all.Wait()
}

func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func bytesWritten(b *testing.B) (written int64) {
	b.Helper()
	content, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if n, _ := fmt.Sscanf(line, "write_bytes: %d", &written); n == 1 {
			return written
		}
	}
	b.Fatal("/proc/self/io says nothing of what was written")
	return 0
}
