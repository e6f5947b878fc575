//go:build !race

// Not under the race detector: nothing here is concurrent, and thousands of keys would
// take a minute.

package workload_test

import (
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestKinds signs the first, the middle and the last transaction of each kind. Their
// signatures verify and they have no hazards, so that the benchmarks measure what would
// be sent. No two transactions are equal, and keys are found by address.
func TestKinds(t *testing.T) {
	testenv.Slow(t)
	for _, kind := range workload.Kinds() {
		t.Run(kind.Name(), func(t *testing.T) {
			w := workload.New(t, kind)
			engine := w.Engine(t, countersign.Config{})
			bare, handle := w.Bare(t, true), w.Handle(t)
			for _, i := range []int{0, workload.Keys / 2, workload.Keys - 1} {
				if _, err := engine.SignTransaction(t.Context(), workload.Organization, w.Requests[i]); err != nil {
					t.Fatal(err)
				}
				bare(i)
				handle(i)
				if hazards := w.Ready(t, i, w.Key(t, i)).Hazards(); len(hazards) > 0 {
					t.Errorf("hazards: %v", hazards)
				}
				if got := workload.Address(kind, w.Public[i]); got != w.Requests[i].SignWith || len(got) < 26 {
					t.Errorf("signs with %q", got)
				}
			}
			seen := map[string]bool{}
			for _, request := range w.Requests {
				seen[request.UnsignedTransaction] = true
			}
			if len(seen) != workload.Keys {
				t.Errorf("%d transactions, want %d", len(seen), workload.Keys)
			}
		})
	}
}
