package evmtest

import (
	"encoding/hex"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/keystore"
)

// vector is a file of a chain's testdata, which names its source.
type vector struct {
	PrivateKey  string `json:"privateKey"`
	Address     string `json:"address"`
	Unsigned    string `json:"unsignedTransaction"`
	Signed      string `json:"signedTransaction"`
	SigningHash string `json:"signingHash"` // of Ethereum's
}

// Vectors returns the vectors of the package under test.
func Vectors(t testing.TB) map[string]vector {
	t.Helper()
	return chaintest.Vectors[vector](t, "testdata/*.json")
}

// RunContract runs the contract of all chains over the vectors.
func RunContract(t *testing.T, chain chains.Chain) {
	samples := map[string]chaintest.Sample{}
	for name, v := range Vectors(t) {
		samples[name] = chaintest.Sample{Raw: chaintest.Unhex(t, v.Unsigned), Key: Key(t, v.PrivateKey)}
	}
	chaintest.Run(t, chain, samples)
}

// RunVectors compares the signed bytes and the address with those of the vectors.
func RunVectors(t *testing.T, chain chains.Chain) {
	for name, v := range Vectors(t) {
		t.Run(name, func(t *testing.T) {
			key := Key(t, v.PrivateKey)
			signed, err := chaintest.Sign(t.Context(), chain, chaintest.Unhex(t, v.Unsigned), v.Address, key)
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(signed); got != v.Signed {
				t.Errorf("signed\n got %s\nwant %s", got, v.Signed)
			}
			if got := chain.Addresses(key.PublicKey())[0].Address; got != v.Address {
				t.Errorf("address %s, want %s", got, v.Address)
			}
		})
	}
}

// Key returns a handle to a private key given in hex.
func Key(t testing.TB, privateKey string) keystore.Key {
	t.Helper()
	return chaintest.Key(t, keystore.CurveSecp256k1, chaintest.Unhex(t, privateKey))
}
