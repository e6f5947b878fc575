//go:build cgo && !race

package bench

import (
	"testing"

	"github.com/countersign-dev/countersign"
)

// maxEthereumAllocations is what the whole path of a transfer may allocate, keys
// in memory, unverified. The curve's own are among them: without cgo, and with the
// race detector, the number is another.
const maxEthereumAllocations = 12

func TestEthereumAllocations(t *testing.T) {
	e := newEthereumBench(t, transfer)
	sign := e.signer(t, e.engine(t, countersign.Config{ReleaseUnverifiedSignatures: true}))
	i := 0
	allocations := testing.AllocsPerRun(2*manyInputs, func() {
		sign(i)
		i++
	})
	if allocations > maxEthereumAllocations {
		t.Errorf("%v allocations, want %d at most", allocations, maxEthereumAllocations)
	}
}
