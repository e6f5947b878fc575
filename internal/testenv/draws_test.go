package testenv

import "testing"

// TestDraws: make prove decides how long randomized tests run, and nothing else does.
func TestDraws(t *testing.T) {
	for set, want := range map[string]int{"": 7, "1": 1, "5000": 5000} {
		t.Setenv("COUNTERSIGN_PROVE", set)
		if got := Draws(t, 7); got != want {
			t.Errorf("COUNTERSIGN_PROVE=%q: %d draws, want %d", set, got, want)
		}
	}
}
