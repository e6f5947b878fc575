package tron

import (
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
)

// TestMutations changes every byte of every vector: bits are flipped, bytes inserted,
// deleted and doubled, the end cut off. What is still accepted must be the one
// canonical encoding of its content.
func TestMutations(t *testing.T) {
	for name, raw := range mutated(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried, accepted := 0, 0
			for mutant := range chaintest.Mutants(raw, []byte{0, 0x80, 0xff}) {
				tried++
				tx, err := Chain{}.Parse(mutant)
				if err != nil {
					continue
				}
				accepted++
				checkCanonical(t, tx.(*transaction))
				tx.Summary()
			}
			if accepted == 0 || accepted == tried {
				t.Errorf("%d of %d mutants accepted", accepted, tried)
			}
		})
	}
}

// mutated returns the transactions to change: every vector, and a Transaction with two
// signatures.
func mutated(t *testing.T) map[string][]byte {
	t.Helper()
	all := handMade(t)
	for i, v := range tronWebVectors(t) {
		all[fmt.Sprintf("%d %s", i, v.Type)] = chaintest.Unhex(t, v.RawDataHex)
	}
	raw := rawOf(1, transfer(t))
	tx := parse(t, raw)
	all["two signatures"] = wholeOf(raw, signedBy(t, tx, oneSecret), signedBy(t, tx, twoSecret))
	return all
}
