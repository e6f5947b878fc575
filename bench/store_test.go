package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/postgres"
)

// storeClients is the number of concurrent clients in the benchmarks of stores that wait
// for a disk.
const storeClients = 64

// recordSize is about that of a signed Ethereum transaction with its vote.
const recordSize = 2000

// BenchmarkStoreMemory begins and completes activities, each with its own body, as the
// other store benchmarks do.
func BenchmarkStoreMemory(b *testing.B) {
	s := memory.New(math.MaxInt)
	var counter atomic.Uint64
	data := make([]byte, recordSize)
	b.ReportAllocs()
	for b.Loop() {
		storeActivity(b, s, counter.Add(1), data)
	}
}

// BenchmarkStoreBolt also reports how many activities share a commit.
func BenchmarkStoreBolt(b *testing.B) {
	s, err := bolt.Open(filepath.Join(b.TempDir(), "store"))
	testenv.Must(b, err)
	defer s.Close()
	storeConcurrently(b, s)
	stats := s.Stats()
	b.ReportMetric(float64(stats.Completed)/float64(stats.Commits), "activities/fsync")
}

// BenchmarkStorePostgres has its database on the same machine.
func BenchmarkStorePostgres(b *testing.B) {
	s, err := postgres.Open(b.Context(), testenv.Postgres(b).DSN)
	testenv.Must(b, err)
	defer s.Close()
	storeConcurrently(b, s)
}

func storeConcurrently(b *testing.B, s store.Store) {
	b.Helper()
	b.SetParallelism(max(1, storeClients/runtime.GOMAXPROCS(0)))
	data := make([]byte, recordSize)
	first := storeBodies.Add(uint64(b.N)) - uint64(b.N)
	measure.Parallel(b, func(i int) { storeActivity(b, s, first+uint64(i), data) })
}

// storeBodies counts the bodies sent so far, so that no two are equal.
var storeBodies atomic.Uint64

func storeActivity(b *testing.B, s store.Store, i uint64, data []byte) {
	var body [8]byte
	binary.BigEndian.PutUint64(body[:], i)
	now := time.Now()
	claim := store.Claim{OrganizationID: "org", Fingerprint: sha256.Sum256(body[:]), At: now.UnixMilli(), LeaseTTL: time.Minute, Now: now, Size: recordSize}
	begun, err := s.Begin(b.Context(), claim, nil)
	if err != nil || begun.Lease == nil {
		b.Error(begun, err)
		return
	}
	activity := store.Activity{ID: fmt.Sprintf("%016d", i), SubmittedBy: "ci", Type: "SIGN", Status: "DONE", Data: data, KeepUntil: now.Add(time.Hour)}
	if err := s.Complete(b.Context(), *begun.Lease, activity, nil); err != nil {
		b.Error(err)
	}
}
