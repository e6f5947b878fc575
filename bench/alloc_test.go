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
	"ethereum/eip1559": 7, "ethereum/eip155": 7, "ethereum/eip2930": 7, "ethereum/eip4844": 7, "ethereum/eip7702": 7,
	"tron/transfer": 7, "tron/trc20": 7,
	"tempo/transfer": 7, "tempo/batch": 7, "tempo/sponsored": 7,
	"solana/215": 4, "solana/300": 4, "solana/812": 4, "solana/1232": 4, "solana/4096": 5,
	"bitcoin/P2WPKH": 57, "bitcoin/P2TR": 100, "bitcoin/P2PKH": 50,
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
