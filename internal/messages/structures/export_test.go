package structures

import (
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/internal/evm"
)

// Reactors returns the spenders that enforce their order, by its type and the chain id.
func Reactors() map[string]map[uint64]string { return reactors }

// Types returns the encoded types of the known structures, sorted.
func Types() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(evm.TypedTypes(), maps.Keys(byType))))
}
