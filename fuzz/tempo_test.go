package fuzz

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/tempooracle"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// tempoSeeds returns transactions of every kind: those of the vectors, and
// generated ones.
func tempoSeeds(f *testing.F) [][]byte {
	f.Helper()
	files, err := filepath.Glob("../chains/tempo/testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no vectors: %v", err)
	}
	var seeds [][]byte
	for _, file := range files {
		var vector struct{ UnsignedTransaction, SignedTransaction string }
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if err := json.Unmarshal(text, &vector); err != nil {
			f.Fatalf("%s: %v", file, err)
		}
		for _, text := range []string{vector.UnsignedTransaction, vector.SignedTransaction} {
			raw, err := hex.DecodeString(text)
			if err != nil {
				f.Fatalf("%s: %v", file, err)
			}
			seeds = append(seeds, raw)
		}
	}
	random := rand.New(rand.NewPCG(24, 25))
	for number := range 6 * len(tempooracle.Kinds) {
		seeds = append(seeds, tempooracle.Generate(random, number).Unsigned)
	}
	return seeds
}

// FuzzTempoParse: the reader agrees with the oracle on what is valid, so that
// what it accepts is the canonical encoding; what is signed keeps the items, and
// its signature recovers to our address.
func FuzzTempoParse(f *testing.F) {
	addCorpus(f)
	for _, seed := range tempoSeeds(f) {
		f.Add(seed)
	}
	key := ethereumKey(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		tx, err := tempo.Chain{}.Parse(raw)
		if refuses := tempooracle.Refuses(raw); (err == nil) != (refuses == nil) {
			t.Fatalf("%x: ours says %v, the oracle %v", raw, err, refuses)
		}
		if err != nil {
			checkParseError(t, raw, err)
			return
		}
		showEverything(t, tx, key.PublicKey())
		signed, err := tx.Sign(t.Context(), key, "")
		if err != nil {
			t.Fatalf("%x: %v", raw, err)
		}
		if !bytes.Equal(raw, before) {
			t.Fatalf("%x: the input was written to", before)
		}
		sender, unsigned, err := tempooracle.Open(signed)
		if want := common.Address(key.PublicKey().KeccakAddress()); err != nil || sender != want || !bytes.Equal(unsigned, raw) {
			t.Fatalf("%x: sender %v (%v), want %v; unsigned %x", signed, sender, err, want, unsigned)
		}
	})
}

// FuzzTempoGenerated: what the oracle signs, the engine signs to the same bytes.
func FuzzTempoGenerated(f *testing.F) {
	addCorpus(f)
	for kind := range tempooracle.Kinds {
		f.Add(uint64(kind), uint8(kind))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		c := tempooracle.Generate(rand.New(rand.NewPCG(seed, 0)), int(kind))
		keys := memory.New()
		defer keys.Close()
		if _, err := keys.Add("org", memory.Key{ID: "key", Curve: keystore.CurveSecp256k1, Secret: crypto.FromECDSA(c.Key)}); err != nil {
			t.Fatal(err)
		}
		engine, err := countersign.New(countersign.Config{Keystore: keys, AllowHazards: []string{countersign.AllHazards}})
		if err != nil {
			t.Fatal(err)
		}
		result, err := engine.SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
			SignWith: "key", Type: activity.TransactionTypeTempo, UnsignedTransaction: hex.EncodeToString(c.Unsigned),
		})
		if err != nil || result.SignedTransaction != hex.EncodeToString(c.Signed) {
			t.Fatalf("%x\n got %v (%v)\nwant %x", c.Unsigned, result, err, c.Signed)
		}
	})
}

// FuzzTempoRequest: whatever is asked for, the engine answers with a result or
// with an *activity.Error that is the caller's.
func FuzzTempoRequest(f *testing.F) {
	addCorpus(f)
	for _, seed := range tempoSeeds(f) {
		f.Add("0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", hex.EncodeToString(seed))
	}
	f.Add("0x97CC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", "0X76C0")
	f.Add("key", "dvikgqW/hDuaygCFBKgXyACDAYag")
	secret, err := hex.DecodeString(ethereumSecret)
	if err != nil {
		f.Fatal(err)
	}
	keys := memory.New()
	if _, err := keys.Add("org", memory.Key{ID: "key", Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		f.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Keystore: keys})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { engine.Close() })
	f.Fuzz(func(t *testing.T, signWith, unsigned string) {
		result, err := engine.SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
			SignWith: signWith, Type: activity.TransactionTypeTempo, UnsignedTransaction: unsigned,
		})
		if err == nil {
			if _, err := hex.DecodeString(result.SignedTransaction); err != nil {
				t.Fatalf("%q is no hex", result.SignedTransaction)
			}
			return
		}
		refused, ok := errors.AsType[*activity.Error](err)
		if !ok || refused.Code == activity.CodeInternal || refused.Code == activity.CodeUnavailable || refused.Field == "" {
			t.Fatalf("signWith %q, unsigned %q: %#v", signWith, unsigned, err)
		}
	})
}
