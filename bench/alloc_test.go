//go:build cgo && !race

package bench

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/workload"
)

// maxAllocations bounds the allocations of the whole path of a chain, with keys in
// memory and unverified signatures, leaving room for another version of Go. It includes
// the allocations of the curve library, which differ without cgo and under the race
// detector.
var maxAllocations = map[string]float64{
	"ethereum": 43, "ethereum/eip7702": 55, // recovers the signer of each authorization
	"tron": 46, "tempo": 56, "bitcoin": 115, "bitcoin/P2WPKH": 50, "bitcoin/P2PKH": 56,
	"solana/215": 40, "solana/300": 46, "solana/812": 57, "solana/1232": 63, "solana/4096": 130, // every instruction is read for hazards
}

func TestAllocations(t *testing.T) {
	const keys = 50
	for _, kind := range workload.Kinds() {
		most, named := maxAllocations[kind.Name()]
		if !named {
			most, named = maxAllocations[chainOf(kind.Name())]
		}
		if !named {
			t.Errorf("%s has no bound", kind.Name())
		}
		w := workload.NewOf(t, kind, keys)
		sign := w.Whole(t, w.Engine(t, unverified))
		i := 0
		if got := testing.AllocsPerRun(2*keys, func() { sign(i); i++ }); got > most {
			t.Errorf("%s: %v allocations, want at most %v", kind.Name(), got, most)
		}
	}
}

func chainOf(kind string) string {
	chain, _, _ := strings.Cut(kind, "/")
	return chain
}
