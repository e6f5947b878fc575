//go:build !race

// Nothing here runs at once with anything else, and thousands of keys take a
// minute under the race detector.

package workload_test

import (
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestKinds signs the first, one in the middle and the last of each kind,
// verified and without a hazard: what is measured is what would be sent. No two
// transactions are the same, and keys are looked up by an address.
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
