package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/memory"
)

var keystorePassphrase = []byte("a passphrase for benchmarks")

// keystoreKey returns the i-th of many keys, on secp256k1, whose keys have the most
// addresses.
func keystoreKey(i int) keystore.NewKey {
	digest := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: digest[:], ID: uuid.NewSHA1(uuid.Nil, digest[:]).String()}
}

// fillKeystore adds keys from all processors.
func fillKeystore(b *testing.B, keys int) *memory.Store {
	b.Helper()
	store := memory.New()
	var next atomic.Int64
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < keys; i = int(next.Add(1)) - 1 {
				if _, err := store.Add(b.Context(), "org", keystoreKey(i)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	done.Wait()
	return store
}

// manyKeys is how many keys a store must hold without slowing down.
func manyKeys() int {
	if testing.Short() {
		return 10_000
	}
	return 1_000_000
}

// keystoreLocators is how many locators are looked up in turn: enough that the keys do
// not stay in the cache of one core.
const keystoreLocators = 1 << 16

// someKeystoreLocators returns the locators of some of the keys.
func someKeystoreLocators(b *testing.B, store *memory.Store, keys int) (byID, byAddress []keystore.Locator) {
	b.Helper()
	for i := range min(keys, keystoreLocators) {
		id := keystore.ByID(keystoreKey(i * 7919 % keys).ID)
		key, err := store.Find(b.Context(), "org", id)
		testenv.Must(b, err)
		byID = append(byID, id)
		byAddress = append(byAddress, keystore.ByKeccak(key.PublicKey().KeccakAddress()))
	}
	return byID, byAddress
}

// finding returns a function that looks up the locators in turn.
func finding(b *testing.B, store *memory.Store, locators []keystore.Locator) func(i int) {
	return func(i int) {
		if _, err := store.Find(b.Context(), "org", locators[i%len(locators)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKeystoreMemoryFind looks up keys in stores of several sizes. B/key is the
// heap that a key takes, without its secret, which is off the heap; open-µs/key is the time
// to add it, including deriving its public key.
func BenchmarkKeystoreMemoryFind(b *testing.B) {
	for _, size := range []int{10, 1_000, 100_000, 1_000_000} {
		if size > manyKeys() {
			continue
		}
		before, started := keystoreHeap(), time.Now()
		store := fillKeystore(b, size)
		perKey := float64(time.Since(started).Microseconds()) / float64(size)
		bytes := float64(keystoreHeap()-before) / float64(size)
		byID, byAddress := someKeystoreLocators(b, store, size)
		for _, by := range []struct {
			name     string
			locators []keystore.Locator
		}{{"id", byID}, {"keccak", byAddress}} {
			b.Run(fmt.Sprintf("by=%s/keys=%d", by.name, size), func(b *testing.B) {
				measure.Loop(b, finding(b, store, by.locators))
				b.ReportMetric(bytes, "B/key")
				b.ReportMetric(perKey, "open-µs/key")
			})
		}
		_ = store.Close()
	}
}

// keystoreHeap returns the live bytes of the Go heap.
func keystoreHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func createKeystore(b *testing.B, keys, workFactor int) (dir string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "keys")
	store, err := file.Create(dir, keystorePassphrase, file.Options{WorkFactor: workFactor})
	testenv.Must(b, err)
	batch := make([]keystore.NewKey, keys)
	for i := range batch {
		batch[i] = keystoreKey(i)
	}
	_, errs := store.AddBatch(b.Context(), "org", batch)
	for _, err := range errs {
		testenv.Must(b, err)
	}
	testenv.Must(b, store.Close())
	return dir
}

// BenchmarkKeystoreFileOpen opens file keystores and lists them. With work factor 1 it
// shows the cost of the keys, with the default that of the passphrase. B/key is the heap
// that a key takes, without its secret, which is off the heap. A keystore is created once for
// all samples: 100,000 keys take a minute or more.
func BenchmarkKeystoreFileOpen(b *testing.B) {
	for _, c := range []struct{ keys, workFactor int }{{10, 1}, {1_000, 1}, {10_000, 1}, {100_000, 1}, {10, file.DefaultWorkFactor}} {
		if c.keys > manyKeys() {
			continue
		}
		once := sync.OnceValue(func() string { return createKeystore(b, c.keys, c.workFactor) })
		b.Run(fmt.Sprintf("keys=%d/workfactor=%d", c.keys, c.workFactor), func(b *testing.B) {
			dir, before := once(), keystoreHeap()
			var opening, listing, processor time.Duration
			var heap uint64
			for b.Loop() {
				started, used := time.Now(), testenv.ProcessorTime(os.Getpid())
				store, err := file.Open(b.Context(), dir, keystorePassphrase, file.Options{})
				testenv.Must(b, err)
				opened := time.Now()
				processor += testenv.ProcessorTime(os.Getpid()) - used
				listAll(b, store, c.keys)
				opening, listing = opening+opened.Sub(started), listing+time.Since(opened)
				if heap == 0 {
					heap = keystoreHeap() - before
				}
				testenv.Must(b, store.Close())
			}
			total := float64(b.N * c.keys)
			b.ReportMetric(float64(opening.Nanoseconds())/1e3/total, "open-µs/key")
			b.ReportMetric(float64(processor.Nanoseconds())/1e3/total, "open-cpu-µs/key")
			b.ReportMetric(float64(listing.Nanoseconds())/1e3/total, "list-µs/key")
			b.ReportMetric(float64(heap)/float64(c.keys), "B/key")
		})
	}
}

// listAll lists a keystore that has a number of keys.
func listAll(b *testing.B, store *file.Store, keys int) {
	b.Helper()
	listed := 0
	for _, err := range store.Keys(b.Context(), "org") {
		testenv.Must(b, err)
		listed++
	}
	if listed != keys {
		b.Fatalf("%d keys listed of %d", listed, keys)
	}
}

// BenchmarkKeystoreFileAdd adds keys durably, one by one and in batches.
func BenchmarkKeystoreFileAdd(b *testing.B) {
	for _, size := range []int{1, 16, 512} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			store, err := file.Open(b.Context(), createKeystore(b, 0, 1), keystorePassphrase, file.Options{})
			testenv.Must(b, err)
			defer store.Close()
			added := 0
			batch := make([]keystore.NewKey, size)
			for b.Loop() {
				for i := range batch {
					batch[i] = keystoreKey(added)
					added++
				}
				_, errs := store.AddBatch(b.Context(), "org", batch)
				for _, err := range errs {
					testenv.Must(b, err)
				}
			}
			b.ReportMetric(float64(added)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}

// BenchmarkKeystoreFileMiss looks up a key that does not exist: the cost of noticing
// keys that other processes add, while they add none.
func BenchmarkKeystoreFileMiss(b *testing.B) {
	store, err := file.Open(b.Context(), createKeystore(b, 1_000, 1), keystorePassphrase, file.Options{})
	testenv.Must(b, err)
	defer store.Close()
	nothing := keystore.ByID("00000000-0000-4000-8000-000000000000")
	time.Sleep(2100 * time.Millisecond) // until the keystore trusts the directory's modification time
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Find(b.Context(), "org", nothing); err == nil {
			b.Fatal("found")
		}
	}
}
