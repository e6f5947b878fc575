package messages

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// HazardNames returns all hazards of the messages of some chains, each once.
func HazardNames(served ...chains.Chain) (names []string) {
	for _, chain := range served {
		if signer, ok := chain.(chains.MessageSigner); ok {
			for _, name := range signer.MessageHazardNames() {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
