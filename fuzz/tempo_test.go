package fuzz

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/tempomodel"
)

// tempoSeeds returns transactions of every kind: those of the vectors, and
// generated ones.
func tempoSeeds(f *testing.F) [][]byte {
	f.Helper()
	seeds := transactionsOf(f, "tempo")
	random := rand.New(rand.NewPCG(24, 25))
	for number := range 6 * len(tempomodel.Kinds) {
		seeds = append(seeds, tempomodel.Generate(random, number).Unsigned)
	}
	return seeds
}

// FuzzTempoParse: the reader agrees with the model on what is valid, so that
// what it accepts is the canonical encoding; what is signed keeps the items, and
// its signature recovers to our address.
func FuzzTempoParse(f *testing.F) {
	for _, seed := range tempoSeeds(f) {
		f.Add(seed)
	}
	key := ethereumKey(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		tx, err := chains.Adapt(tempo.Chain{}).Parse(raw)
		if refuses := tempomodel.Refuses(raw); (err == nil) != (refuses == nil) {
			t.Fatalf("%x: ours says %v, the model %v", raw, err, refuses)
		}
		if err != nil {
			checkParseError(t, raw, err)
			return
		}
		showEverything(t, tx, key)
		decoded, err := tempomodel.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signed(t, tx, key, "")
		if refuses := decoded.RefusesSender(key.PublicKey().KeccakAddress()); (err == nil) != (refuses == nil) {
			t.Fatalf("%x: ours says %v, the model %v", raw, err, refuses)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(raw, before) {
			t.Fatalf("%x: the input was written to", before)
		}
		sender, unsigned, err := tempomodel.Open(signed)
		if want := common.Address(key.PublicKey().KeccakAddress()); err != nil || sender != want || !bytes.Equal(unsigned, raw) {
			t.Fatalf("%x: sender %v (%v), want %v; unsigned %x", signed, sender, err, want, unsigned)
		}
	})
}

// FuzzTempoGenerated: what the model signs, the engine signs to the same bytes.
func FuzzTempoGenerated(f *testing.F) {
	for kind := range tempomodel.Kinds {
		f.Add(uint64(kind), uint8(kind))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		c := tempomodel.Generate(rand.New(rand.NewPCG(seed, 0)), int(kind))
		signsTo(t, activity.TransactionTypeTempo, crypto.FromECDSA(c.Key), c.Unsigned, c.Signed)
	})
}
