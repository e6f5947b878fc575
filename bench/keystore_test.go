package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/memory"
)

var keystorePassphrase = []byte("a passphrase for benchmarks")

// keystoreKey returns the i-th of many keys, on secp256k1: those have the most
// addresses.
func keystoreKey(i int) memory.Key {
	digest := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return memory.Key{Curve: keystore.CurveSecp256k1, Secret: digest[:], ID: uuid.NewSHA1(uuid.Nil, digest[:]).String()}
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
				if _, err := store.Add("org", keystoreKey(i)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	done.Wait()
	return store
}

// someKeystoreLocators returns where some 4096 of so many keys are found.
func someKeystoreLocators(b *testing.B, store *memory.Store, keys int) (byID, byAddress []keystore.Locator) {
	b.Helper()
	for i := range 4096 {
		at := keystore.ByID(keystoreKey(i * 7919 % keys).ID)
		key, err := store.Find(b.Context(), "org", at)
		if err != nil {
			b.Fatal(err)
		}
		byID = append(byID, at)
		byAddress = append(byAddress, keystore.ByKeccak(keystore.KeccakAddress(key.PublicKey())))
	}
	return byID, byAddress
}

// BenchmarkKeystoreMemoryFind looks keys up in stores of many sizes: the time
// must not grow with them, but for what the caches of the processor cost. B/key
// is what a key takes on the heap: all but its secret, which is outside.
func BenchmarkKeystoreMemoryFind(b *testing.B) {
	for _, size := range []int{10, 1_000, 100_000, 1_000_000} {
		before := keystoreHeap()
		store := fillKeystore(b, size)
		perKey := float64(keystoreHeap()-before) / float64(size)
		byID, byAddress := someKeystoreLocators(b, store, size)
		for name, locators := range map[string][]keystore.Locator{"id": byID, "keccak": byAddress} {
			b.Run(fmt.Sprintf("by=%s/keys=%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					if _, err := store.Find(b.Context(), "org", locators[i%len(locators)]); err != nil {
						b.Fatal(err)
					}
					i++
				}
				b.ReportMetric(perKey, "B/key")
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
	if err != nil {
		b.Fatal(err)
	}
	batch := make([]file.Key, keys)
	for i := range batch {
		batch[i] = keystoreKey(i)
	}
	_, errs := store.AddBatch("org", batch)
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkKeystoreFileOpen opens file keystores. With work factor 1 it shows
// what the keys cost, with the default what the passphrase costs.
func BenchmarkKeystoreFileOpen(b *testing.B) {
	for _, c := range []struct{ keys, workFactor int }{{10, 1}, {1_000, 1}, {10_000, 1}, {10, file.DefaultWorkFactor}, {10_000, file.DefaultWorkFactor}} {
		b.Run(fmt.Sprintf("keys=%d/workfactor=%d", c.keys, c.workFactor), func(b *testing.B) {
			dir := createKeystore(b, c.keys, c.workFactor)
			for b.Loop() {
				store, err := file.Open(b.Context(), dir, keystorePassphrase, file.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := store.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*c.keys), "µs/key")
		})
	}
}

// BenchmarkKeystoreFileAdd adds keys safely to disk, one by one and in batches.
func BenchmarkKeystoreFileAdd(b *testing.B) {
	for _, size := range []int{1, 16, 512} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			store, err := file.Open(b.Context(), createKeystore(b, 0, 1), keystorePassphrase, file.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			added := 0
			batch := make([]file.Key, size)
			for b.Loop() {
				for i := range batch {
					batch[i] = keystoreKey(added)
					added++
				}
				_, errs := store.AddBatch("org", batch)
				for _, err := range errs {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(added)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}

// BenchmarkKeystoreFileMiss looks for a key that is not there: the price of
// seeing what other processes add, while they add nothing.
func BenchmarkKeystoreFileMiss(b *testing.B) {
	store, err := file.Open(b.Context(), createKeystore(b, 1_000, 1), keystorePassphrase, file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	nothing := keystore.ByID("00000000-0000-4000-8000-000000000000")
	time.Sleep(2100 * time.Millisecond) // until the directory has been quiet
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Find(b.Context(), "org", nothing); err == nil {
			b.Fatal("found")
		}
	}
}
