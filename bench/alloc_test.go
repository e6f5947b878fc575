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
	"ethereum/eip1559": 9, "ethereum/eip155": 9, "ethereum/eip2930": 9, "ethereum/eip4844": 9, "ethereum/eip7702": 10,
	"tron/transfer": 9, "tron/trc20": 9,
	"tempo/transfer": 10, "tempo/batch": 10, "tempo/sponsored": 10,
	"solana/215": 6, "solana/300": 6, "solana/812": 6, "solana/1232": 6, "solana/4096": 7,
	"bitcoin/P2WPKH": 105, "bitcoin/P2TR": 152, "bitcoin/P2PKH": 107,
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
