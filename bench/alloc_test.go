//go:build cgo && !race

package bench

import (
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/workload"
)

// maxAllocations is what the whole path of a kind may allocate, keys in memory,
// unverified. The curve's own are among them: without cgo, and with the race
// detector, the number is another.
var maxAllocations = map[string]float64{
	"ethereum/eip1559": 8, "ethereum/eip155": 8, "ethereum/eip2930": 8, "ethereum/eip4844": 8, "ethereum/eip7702": 9,
	"tron/transfer": 8, "tron/trc20": 8,
	"tempo/transfer": 8, "tempo/batch": 9, "tempo/sponsored": 8,
	"solana/215": 5, "solana/300": 5, "solana/812": 5, "solana/1232": 5, "solana/4096": 6,
	"bitcoin/P2WPKH": 58, "bitcoin/P2TR": 101, "bitcoin/P2PKH": 51,
}

func TestAllocations(t *testing.T) {
	for _, kind := range workload.Kinds() {
		most, named := maxAllocations[kind.Name()]
		if !named {
			t.Errorf("%s has no bound", kind.Name())
		}
		w := workload.New(t, kind)
		sign := w.Whole(t, w.Engine(t, unverified))
		i := 0
		if got := testing.AllocsPerRun(2*workload.Keys, func() { sign(i); i++ }); got > most {
			t.Errorf("%s: %v allocations, want %v at most", kind.Name(), got, most)
		}
	}
}
