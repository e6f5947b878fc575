//go:build !race

package keccak

import "testing"

// Not with the race detector, under which a sync.Pool drops things at random.
func TestAllocatesNothing(t *testing.T) {
	if allocations := testing.AllocsPerRun(100, func() {
		var array [65]byte
		Sum256(array[1:], array[:2])
	}); allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}
