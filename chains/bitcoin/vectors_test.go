package bitcoin_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// The vector p2tr.json is signed with random auxiliary data. zeroAux is the signature
// of @noble/curves, with which the library of the vector signs, with 32 zero bytes, as
// BIP-340 has it for signers without randomness and as this package does it.
const (
	randomAux = "b156676d95502ce119d52698bd312ff943efc761389c230c32d1d13eb38da5a96ae6c37a0bf40855270918804a2c348ba3aa9d525b6552e315f6f88a61b56e28"
	zeroAux   = "9368cb56fc5b8663b5942848cad15b1c1958f0bff9aa14754533daff8f5ea1b5b7e57c9cd8f91634e0d716a570c2917feeb460c1a7ebba63fa2637231cc0626c"
)

func withZeroAux(t testing.TB, text string) []byte {
	t.Helper()
	return chaintest.Unhex(t, strings.ReplaceAll(text, randomAux, zeroAux))
}

// TestVectors signs as the engine does, by address and by key id, and must get the
// bytes of bitcoinjs-lib, finalized too.
func TestVectors(t *testing.T) {
	for name, vector := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			store := memory.New()
			info, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: chaintest.Unhex(t, vector.PrivateKey)})
			testenv.Must(t, err)
			for _, signWith := range []string{vector.Address, info.ID} {
				tx := parse(t, chaintest.Unhex(t, vector.UnsignedTransaction))
				signed := mustSign(t, tx, signWith, find(t, store, tx, signWith))
				if !bytes.Equal(signed, withZeroAux(t, vector.SignedTransaction)) {
					t.Errorf("signed with %s:\n got %x\nwant %s", signWith, signed, vector.SignedTransaction)
				}
				final, err := bitcoin.Finalize(signed)
				testenv.Must(t, err)
				if !bytes.Equal(final, withZeroAux(t, vector.FinalTransaction)) {
					t.Errorf("final:\n got %x\nwant %s", final, vector.FinalTransaction)
				}
			}
		})
	}
}

// TestContract runs the contract of all chains: with the vectors, and one PSBT of each
// version with inputs of several types.
func TestContract(t *testing.T) {
	samples := map[string]chaintest.Sample{}
	for name, v := range vectors(t) {
		samples[name] = chaintest.Sample{Raw: chaintest.Unhex(t, v.UnsignedTransaction), Key: keyOf(t, chaintest.Unhex(t, v.PrivateKey))}
	}
	for version, raw := range mixedInputs(t) {
		samples[fmt.Sprintf("version %d", version)] = chaintest.Sample{Raw: raw, Key: keyOf(t, secretOf(1))}
	}
	chaintest.Run(t, bitcoin.Chain{}, samples)
}

// find looks a key up as the engine does.
func find(t testing.TB, store keystore.Keystore, tx *bitcoin.Transaction, signWith string) keystore.Key {
	t.Helper()
	locators, err := locate(tx, signWith)
	testenv.Must(t, err)
	for _, at := range locators {
		if key, err := store.Find(t.Context(), "org", at); err == nil {
			return keystore.Verified(key)
		}
	}
	t.Fatalf("no key for %s at %v", signWith, locators)
	return nil
}

// TestVectorHazards checks that no vector has a hazard. The two segwit vectors come
// without the transaction that they spend, and their one signature commits to its
// amount.
func TestVectorHazards(t *testing.T) {
	for name, vector := range vectors(t) {
		tx := parse(t, chaintest.Unhex(t, vector.UnsignedTransaction))
		pub := keyOf(t, chaintest.Unhex(t, vector.PrivateKey)).PublicKey()
		if got := chaintest.Names(hazardsFor(tx, pub)); len(got) > 0 {
			t.Errorf("%s: hazards %v", name, got)
		}
	}
}

// TestSignAgain checks that an existing signature is kept, and that the PSBT comes back
// unchanged.
func TestSignAgain(t *testing.T) {
	for name, vector := range vectors(t) {
		signed := chaintest.Unhex(t, vector.SignedTransaction)
		again := mustSign(t, parse(t, signed), vector.Address, keyOf(t, chaintest.Unhex(t, vector.PrivateKey)))
		if !bytes.Equal(again, signed) {
			t.Errorf("%s: signed again differently", name)
		}
	}
}
