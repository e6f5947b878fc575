package fuzz

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
)

// tempoSeeds returns transactions of every kind: those of the vectors, and generated
// ones.
func tempoSeeds(f *testing.F) [][]byte {
	f.Helper()
	seeds := transactionsOf(f, "tempo")
	random := rand.New(rand.NewPCG(24, 25))
	for number := range 6 * len(tempomodel.Kinds) {
		c := tempomodel.Generate(random, number)
		seeds = append(seeds, c.Unsigned)
		c.Tx.FeePayer = []byte{0}
		seeds = append(seeds, c.Tx.ToCountersign(c.Tx.SenderSignature(c.Key), number%2 == 0).Encode())
	}
	return seeds
}

// FuzzTempoParse checks that the reader accepts what the model accepts, and so only
// the canonical encoding, that signing keeps the items and the signer can be
// recovered, and that what a sender has signed is countersigned as by the model.
func FuzzTempoParse(f *testing.F) {
	for _, seed := range tempoSeeds(f) {
		f.Add(seed)
	}
	key := ethereumKey(f)
	payer, err := crypto.HexToECDSA(ethereumSecret)
	testenv.Must(f, err)
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		tx, err := tempo.Chain{}.Parse(raw)
		if refuses := tempomodel.Refuses(raw); (err == nil) != (refuses == nil) {
			t.Fatalf("%x: ours says %v, the model %v", raw, err, refuses)
		}
		if err != nil {
			checkParseError(t, raw, err)
			return
		}
		showEverything(t, tx, key)
		decoded, err := tempomodel.Decode(raw)
		testenv.Must(t, err)
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
		if decoded.Sender != nil {
			if want := decoded.Countersign(payer); !bytes.Equal(signed, want) {
				t.Fatalf("%x: countersigned %x, want %x", raw, signed, want)
			}
			return
		}
		sender, unsigned, err := tempomodel.Open(signed)
		if want := common.Address(key.PublicKey().KeccakAddress()); err != nil || sender != want || !bytes.Equal(unsigned, raw) {
			t.Fatalf("%x: sender %v (%v), want %v; unsigned %x", signed, sender, err, want, unsigned)
		}
	})
}

// FuzzTempoGenerated checks that the engine signs what the model signs to the same
// bytes.
func FuzzTempoGenerated(f *testing.F) {
	for kind := range tempomodel.Kinds {
		f.Add(uint64(kind), uint8(kind))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		c := tempomodel.Generate(rand.New(rand.NewPCG(seed, 0)), int(kind))
		signsTo(t, activity.TransactionTypeTempo, crypto.FromECDSA(c.Key), c.Unsigned, c.Signed)
	})
}
