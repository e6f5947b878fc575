package ethereum_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/gethoracle"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestMutations changes every byte of every valid vector in every way: to each other
// value, deleted, with each value inserted before it, and cut off there. What is still
// accepted must be what go-ethereum would accept, and its canonical encoding must be
// the input itself.
func TestMutations(t *testing.T) {
	key := evmtest.NewFixedKey(t)
	for name, v := range evmtest.Vectors(t) {
		t.Run(name, func(t *testing.T) {
			for mutant := range chaintest.Mutants(chaintest.Unhex(t, v.Unsigned), chaintest.EveryByte) {
				checkMutant(t, mutant, key)
			}
		})
	}
}

// TestRandomMutations changes several bytes of random transactions.
func TestRandomMutations(t *testing.T) {
	key := evmtest.NewFixedKey(t)
	random := rand.New(rand.NewPCG(3, 4))
	for number := range testenv.Some(300) {
		original := gethoracle.Generate(random, number%gethoracle.Kinds).Unsigned
		for range 300 {
			raw := bytes.Clone(original)
			for range 1 + random.IntN(3) {
				raw[random.IntN(len(raw))] ^= byte(1 + random.IntN(255))
			}
			checkMutant(t, raw, key)
		}
	}
}

func checkMutant(t *testing.T, raw []byte, key *evmtest.FixedKey) {
	t.Helper()
	tx, err := ethereum.Chain{}.Parse(raw)
	if refuses := gethoracle.Refuses(raw); (err == nil) != (refuses == nil) {
		t.Errorf("%x: ours says %v, the oracle %v", raw, err, refuses)
	}
	if err != nil {
		return
	}
	signed, err := sign(t, tx, key, "")
	testenv.Must(t, err)
	canonical := gethoracle.Unsigned(decodeSigned(t, signed))
	alias := raw[0] < 0xc0 && bytes.Equal(raw, gethoracle.WithEmptySignature(canonical))
	if !alias && !bytes.Equal(raw, canonical) {
		t.Errorf("accepted %x\nis in truth %x", raw, canonical)
	}
}
