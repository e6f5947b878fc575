package file_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// BenchmarkOpen opens keystores of several sizes. µs/key is wall-clock time with all
// processors; cpu-µs/key is CPU time.
func BenchmarkOpen(b *testing.B) {
	for _, many := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) { benchmarkOpen(b, many) })
	}
}

func benchmarkOpen(b *testing.B, many int) {
	dir := filepath.Join(b.TempDir(), "keys")
	store, err := file.Create(dir, passphrase, fast)
	testenv.Must(b, err)
	keys := make([]keystore.NewKey, many)
	for i := range keys {
		keys[i] = keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: make([]byte, keystore.SecretSize)}
		binary.BigEndian.PutUint64(keys[i].Secret[8:], uint64(i)+1)
	}
	_, errs := store.AddBatch(b.Context(), "org", keys)
	for _, err := range errs {
		testenv.Must(b, err)
	}
	_ = store.Close()
	before := testenv.OwnTime(b)
	for b.Loop() {
		store, err := file.Open(b.Context(), dir, passphrase, fast)
		testenv.Must(b, err)
		_ = store.Close()
	}
	opened := float64(b.N) * float64(many)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/opened, "µs/key")
	b.ReportMetric(float64((testenv.OwnTime(b)-before).Microseconds())/opened, "cpu-µs/key")
}
