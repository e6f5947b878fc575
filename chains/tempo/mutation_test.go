package tempo_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
)

// TestMutations changes every byte of every valid vector in every way: to each other
// value, deleted, with each value inserted before it, and cut off there. What is still
// accepted must be what the model accepts, whose canonical encoding is the input
// itself.
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

// TestMutationsOfAuthorizations is TestMutations, at the boundaries, for what no vector
// has: a fee payer's signature, a key authorization and an authorization.
func TestMutationsOfAuthorizations(t *testing.T) {
	key := evmtest.NewFixedKey(t)
	for name, raw := range map[string]string{
		"payer":         typed(with(items, feePayer, payer)...),
		"key":           typed(withKey(fullKey...)...),
		"authorization": typed(with(items, authorizationList, list(authorization))...),
	} {
		t.Run(name, func(t *testing.T) {
			for mutant := range chaintest.Mutants(chaintest.Unhex(t, raw), chaintest.Boundaries) {
				checkMutant(t, mutant, key)
			}
		})
	}
}

// TestRandomMutations changes several bytes of random transactions.
func TestRandomMutations(t *testing.T) {
	key := evmtest.NewFixedKey(t)
	random := rand.New(rand.NewPCG(3, 4))
	for number := range testenv.Some(240) {
		original := tempomodel.Generate(random, number).Unsigned
		for range 200 {
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
	tx, err := tempo.Chain{}.Parse(raw)
	if refuses := tempomodel.Refuses(raw); (err == nil) != (refuses == nil) {
		t.Errorf("%x: ours says %v, the model %v", raw, err, refuses)
	}
	if err != nil {
		return
	}
	decoded, err := tempomodel.Decode(raw)
	testenv.Must(t, err)
	signing, err := chaintest.Ready(tx, "", key)
	if refuses := decoded.RefusesSender(key.PublicKey().KeccakAddress()); (err == nil) != (refuses == nil) {
		t.Fatalf("%x: ours says %v, the model %v", raw, err, refuses)
	}
	if err != nil {
		return
	}
	signed, err := signing.AppendSigned(t.Context(), nil)
	testenv.Must(t, err)
	if want := tempomodel.WithSignature(raw, fixedSignature); !bytes.Equal(signed, want) {
		t.Errorf("%x\n got %x\nwant %x", raw, signed, want)
	}
	if want := decoded.SigningHash(); !bytes.Equal(key.Digest[:], want) {
		t.Errorf("%x: %x was signed, want %x", raw, key.Digest, want)
	}
}
