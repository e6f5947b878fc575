package bench

import (
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// backends are the keystores that sign, with the number of a workload's keys each holds.
var backends = []struct {
	name string
	keys int
	open func(b *testing.B, w *workload.Workload, keys int) keystore.Keystore
}{
	{"memory", workload.Keys, func(_ *testing.B, w *workload.Workload, _ int) keystore.Keystore { return w.Store }},
	{"file", workload.Keys, fileBackend},
	{"pkcs11", 20, pkcs11Backend}, // adding a key to SoftHSM is slow
}

func fileBackend(b *testing.B, w *workload.Workload, count int) keystore.Keystore {
	b.Helper()
	store, err := file.Create(filepath.Join(b.TempDir(), "keys"), keystorePassphrase, file.Options{WorkFactor: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	keys := make([]keystore.NewKey, count)
	for number := range keys {
		keys[number] = keystore.NewKey{Curve: w.Scheme.Curve(), Secret: workload.Secret(number)}
	}
	_, errs := store.AddBatch(b.Context(), workload.Organization, keys)
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
	return store
}

// BenchmarkKeystores measures the whole path, verified as by default, with each keystore
// relative to keys in memory.
func BenchmarkKeystores(b *testing.B) {
	for _, backend := range backends {
		for _, name := range []string{"ethereum/eip1559", "solana/215"} {
			b.Run(backend.name+"/"+name, func(b *testing.B) {
				w := workload.New(b, workload.Find(name))
				engine := w.Engine(b, countersign.Config{Keystore: backend.open(b, w, backend.keys)})
				measure.Ratio(b, w.WholeOf(b, engine, backend.keys), w.WholeOf(b, w.Engine(b, countersign.Config{}), backend.keys))
			})
		}
	}
}
