package policy

import (
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
)

// WithChain has policies know one chain more while a test runs. It panics if the chain's
// words contradict those of another.
func WithChain(t testing.TB, chain chains.Chain) {
	t.Helper()
	known := words
	extended := newVocabulary(append(all.Chains(all.Limits{}), chain))
	words = func() *vocabulary { return extended }
	t.Cleanup(func() { words = known })
}
