//go:build cgo && !race

package bench

import (
	"math"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/store/memory"
)

// budgets bound the allocations of the whole path of a kind or a chain, with keys in memory
// and unverified signatures. They are what the path allocates: who lets it allocate more says so
// here and in docs/performance.md. They include the allocations of the curve library, which
// differ without cgo and under the race detector.
var budgets = map[string]float64{
	"ethereum": 19, "ethereum/eip7702": 33, // recovers the signer of each authorization
	"tron/transfer": 25, "tron/trc20": 30, "tempo/transfer": 29, "tempo/batch": 33, "tempo/sponsored": 28,
	"bitcoin/P2WPKH": 34, "bitcoin/P2PKH": 38, "bitcoin/P2TR": 86,
	"solana/215": 32, "solana/300": 37, "solana/812": 47, "solana/1232": 52, "solana/4096": 113, // every instruction is read for hazards

	"message/permit": 75, "message/safe": 86, "message/order": 641, "message/personal": 19,

	"submit/memory": 140, // the stamp verified, and the activity recorded
}

// budgeted returns what the budgets are for, each as a function to be called again and again.
func budgeted(t *testing.T) map[string]func(i int) {
	const keys = 50
	all := map[string]func(int){}
	for _, kind := range workload.Kinds() {
		w := workload.NewOf(t, kind, keys)
		all[kind.Name()] = w.Whole(t, w.Engine(t, unverified))
	}
	for _, kind := range workload.MessageKinds() {
		w := workload.NewMessages(t, kind)
		all["message/"+kind.Name] = w.WholeMessage(t, w.Engine(t, unverified))
	}
	key := enginetest.NewAPIKey(t)
	engine, err := submitEngine(key.Config(), memory.New(math.MaxInt))
	if err != nil {
		t.Fatal(err)
	}
	sent := newLoad(t, key, allocationRuns+1)
	all["submit/memory"] = func(i int) {
		if _, err := engine.Submit(t.Context(), sent.body(i)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// allocationRuns is over how many calls allocations are averaged.
const allocationRuns = 200

func TestAllocations(t *testing.T) {
	for name, call := range budgeted(t) {
		most, named := budgets[name]
		if !named {
			chain, _, _ := strings.Cut(name, "/")
			most, named = budgets[chain]
		}
		i := 0
		switch got := testing.AllocsPerRun(allocationRuns, func() { call(i); i++ }); {
		case !named:
			t.Errorf("%s has no budget", name)
		case got > most:
			t.Errorf("%s: %v allocations, at most %v are in the budget", name, got, most)
		default:
			t.Logf("%s: %v allocations of %v", name, got, most)
		}
	}
}
