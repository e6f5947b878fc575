package solana

import (
	"slices"
	"strings"
	"testing"
)

// notCompared are the sysvars and programs whose address is not compared.
var notCompared = []string{"instructions sysvar", "associated token program"}

// TestFixedAddresses checks that every account in a role of fixedAddresses is compared with
// them, in every layout.
func TestFixedAddresses(t *testing.T) {
	found := 0
	var check func(l *layout)
	check = func(l *layout) {
		for _, place := range l.slots {
			if !slices.Equal(place.fixed, fixedAddresses[place.name]) {
				t.Errorf("%s: %s has the addresses %x", l.name, place.name, place.fixed)
			}
			found += len(place.fixed)
			role := strings.HasSuffix(place.name, " sysvar") || strings.HasSuffix(place.name, " program")
			if role && place.fixed == nil && !slices.Contains(notCompared, place.name) {
				t.Errorf("%s: %q has no address", l.name, place.name)
			}
		}
		for _, inner := range l.nested {
			check(inner)
		}
	}
	for _, p := range programs {
		for _, l := range p.layouts {
			check(l)
		}
		for _, l := range p.tagged {
			check(l)
		}
	}
	if found == 0 {
		t.Error("no layout has such an account")
	}
}
