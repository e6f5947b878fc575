package fuzz

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/storetest"
)

// maxChoices bounds a sequence of operations, so that each is fast.
const maxChoices = 1 << 10

// addChoices adds random sequences, the same ones in each run.
func addChoices(f *testing.F) {
	f.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		choices := make([]byte, 300)
		for i := range choices {
			choices[i] = byte(random.Uint32())
		}
		f.Add(choices)
	}
}

// FuzzStoreMemory checks that store/memory answers like storetest's model for any
// sequence of operations.
func FuzzStoreMemory(f *testing.F) {
	fuzzStore(f, func(testing.TB) store.Store { return memory.New(0) })
}

// FuzzStoreBolt is FuzzStoreMemory for store/bolt. store/postgres needs a server: its
// contract test plays random sequences instead.
func FuzzStoreBolt(f *testing.F) {
	fuzzStore(f, func(t testing.TB) store.Store {
		opened, err := bolt.Open(filepath.Join(t.TempDir(), "store"))
		testenv.Must(t, err)
		return opened
	})
}

func fuzzStore(f *testing.F, open func(testing.TB) store.Store) {
	addChoices(f)
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) <= maxChoices {
			storetest.Play(t, storetest.Harness{Open: open}, choices)
		}
	})
}
