package chaintest

import (
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// Names returns the names of hazards, nil if there are none.
func Names(hazards []chains.Hazard) (names []string) {
	for _, hazard := range hazards {
		names = append(names, hazard.Name)
	}
	return names
}

// CheckHazards compares the names of hazards, and the detail of the first one if there is one.
func CheckHazards(t testing.TB, hazards []chains.Hazard, names []string, detail string) {
	t.Helper()
	if got := Names(hazards); !slices.Equal(got, names) {
		t.Fatalf("hazards %v, want %v", got, names)
	}
	if len(names) > 0 && hazards[0].Detail != detail {
		t.Errorf("detail\n got %s\nwant %s", hazards[0].Detail, detail)
	}
}

// CheckAllSeen checks that the hazards that a chain's tests have seen are exactly those of
// its closed list.
func CheckAllSeen(t testing.TB, chain chains.Chain, seen []string) {
	t.Helper()
	seen, want := slices.Sorted(slices.Values(seen)), slices.Sorted(slices.Values(chain.HazardNames()))
	if seen = slices.Compact(seen); !slices.Equal(seen, want) {
		t.Errorf("the tests have seen %v, the list has %v", seen, want)
	}
}
