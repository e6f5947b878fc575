//go:build !cgo

package bench

import (
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/keystore"
)

// pkcs11Backend skips the benchmark: PKCS#11 needs cgo.
func pkcs11Backend(b *testing.B, _ *workload.Workload, _ int) keystore.Keystore {
	b.Helper()
	b.Skip("PKCS#11 needs cgo")
	return nil
}
