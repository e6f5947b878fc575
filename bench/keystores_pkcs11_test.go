//go:build cgo

package bench

import (
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// pkcs11Backend is SoftHSM in this process: a token on which signing costs little more
// than in memory, so that the keystore's own cost shows.
func pkcs11Backend(b *testing.B, w *workload.Workload, count int) keystore.Keystore {
	b.Helper()
	store := openHSM(b, testenv.SoftHSM(b), "", 1)
	for number := range count {
		key := keystore.NewKey{Curve: w.Scheme.Curve(), Secret: workload.Secret(number)}
		if _, err := store.Add(b.Context(), workload.Organization, key); err != nil {
			b.Fatal(err)
		}
	}
	return store
}
