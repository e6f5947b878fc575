package structures

import (
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/internal/evm"
)

// Types returns the encoded types of the known structures, sorted.
func Types() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(evm.TypedTypes(), maps.Keys(byType))))
}
