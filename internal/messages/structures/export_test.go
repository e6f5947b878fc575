package structures

import (
	"maps"
	"slices"
)

// Types returns the encoded types of the known structures, sorted.
func Types() []string { return slices.Sorted(maps.Keys(byType)) }
