package workload_test

import (
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/workload"
)

// TestKindsSign signs the first, one in the middle and the last of each kind,
// verified, with no hazard that is not one of size or fee: what is measured is
// what would be sent.
func TestKindsSign(t *testing.T) {
	for _, kind := range workload.Kinds() {
		t.Run(kind.Name(), func(t *testing.T) {
			w := workload.New(t, kind)
			whole := w.Whole(t, w.Engine(t, countersign.Config{}))
			bare, handle := w.Bare(t, true), w.Handle(t)
			for _, i := range []int{0, workload.Keys / 2, workload.Keys - 1} {
				whole(i)
				bare(i)
				handle(i)
				if hazards := w.Parse(t, i).Hazards(w.Public[i]); len(hazards) > 0 {
					t.Errorf("hazards: %v", hazards)
				}
			}
		})
	}
}

// TestKindsRotate: no two transactions of a kind are the same.
func TestKindsRotate(t *testing.T) {
	for _, kind := range workload.Kinds() {
		w := workload.New(t, kind)
		seen := map[string]bool{}
		for _, request := range w.Requests {
			seen[request.UnsignedTransaction] = true
		}
		if len(seen) != workload.Keys {
			t.Errorf("%s: %d transactions, want %d", kind.Name(), len(seen), workload.Keys)
		}
	}
}

// TestAddressesSign: the key is looked up by an address, not by its id.
func TestAddressesSign(t *testing.T) {
	for _, kind := range workload.Kinds() {
		w := workload.New(t, kind)
		if got := workload.Address(kind, w.Public[3]); got != w.Requests[3].SignWith || len(got) < 26 {
			t.Errorf("%s: signs with %q", kind.Name(), got)
		}
	}
}
