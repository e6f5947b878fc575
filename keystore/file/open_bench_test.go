package file_test

import (
	"encoding/binary"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// BenchmarkOpen opens a keystore of 10,000 keys: per key.
func BenchmarkOpen(b *testing.B) {
	const many = 10_000
	dir := b.TempDir() + "/keys"
	store, err := file.Create(dir, passphrase, fast)
	if err != nil {
		b.Fatal(err)
	}
	keys := make([]keystore.NewKey, many)
	for i := range keys {
		keys[i] = keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: make([]byte, keystore.SecretSize)}
		binary.BigEndian.PutUint64(keys[i].Secret[8:], uint64(i)+1)
	}
	_, errs := store.AddBatch(b.Context(), "org", keys)
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
	_ = store.Close()
	for b.Loop() {
		store, err := file.Open(b.Context(), dir, passphrase, fast)
		if err != nil {
			b.Fatal(err)
		}
		_ = store.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/many, "µs/key")
}
