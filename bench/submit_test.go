package bench

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/postgres"
)

// stores are the stores that record activities.
var stores = []struct {
	name string
	open func(b *testing.B) store.Full
}{
	{"memory", func(*testing.B) store.Full { return memory.New(math.MaxInt) }},
	{"bolt", func(b *testing.B) store.Full {
		backend, err := bolt.Open(filepath.Join(b.TempDir(), "state.db"))
		testenv.Must(b, err)
		return backend
	}},
	{"postgres", func(b *testing.B) store.Full {
		backend, err := postgres.Open(b.Context(), testenv.Postgres(b).DSN)
		testenv.Must(b, err)
		return backend
	}},
}

// BenchmarkSubmit measures a request from its body to its answer, without HTTP, over
// each store: by one client, by 8 and by 64 concurrently.
func BenchmarkSubmit(b *testing.B) {
	for _, backend := range stores {
		for _, clients := range []int{1, 8, storeClients} {
			b.Run(fmt.Sprintf("%s/clients=%d", backend.name, clients), func(b *testing.B) {
				key := enginetest.NewAPIKey(b)
				opened := backend.open(b)
				engine := newSubmitEngine(b, key, opened)
				sent := newLoad(b, key, b.N)
				b.SetParallelism(max(1, clients/runtime.GOMAXPROCS(0)))
				submit := submitter(b, engine, sent)
				if clients == 1 {
					measure.Serial(b, submit)
					return
				}
				measure.Parallel(b, submit)
				if file, ok := opened.(*bolt.Store); ok {
					written := file.Stats()
					b.ReportMetric(float64(written.Completed)/float64(written.Commits), "activities/fsync")
				}
			})
		}
	}
}

// submitter returns a function that submits body i of a load and writes its answer.
func submitter(b *testing.B, engine *countersign.Engine, sent *load) func(i int) {
	return func(i int) {
		record, err := engine.Submit(b.Context(), sent.body(i))
		if err != nil {
			b.Error(err)
			return
		}
		record.AppendAnswer(make([]byte, 0, 8<<10))
	}
}

// newSubmitEngine returns an engine that takes requests and does not verify signatures.
// It is closed, with its store, when the benchmark ends.
func newSubmitEngine(b *testing.B, key *enginetest.APIKey, backend store.Full) *countersign.Engine {
	b.Helper()
	engine, err := submitEngine(key.Config(), backend)
	testenv.Must(b, err)
	b.Cleanup(func() {
		if err := engine.Close(); err != nil {
			b.Error(err)
		}
	})
	return engine
}
