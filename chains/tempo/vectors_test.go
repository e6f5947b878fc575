package tempo_test

import (
	"encoding/hex"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/keystore"
)

// vector is a file of testdata, which names its source.
type vector struct {
	PrivateKey  string `json:"privateKey"`
	Address     string `json:"address"`
	Unsigned    string `json:"unsignedTransaction"`
	Signed      string `json:"signedTransaction"`
	SigningHash string `json:"signingHash"`
}

func vectors(t testing.TB) map[string]vector {
	t.Helper()
	return chaintest.Vectors[vector](t, "testdata/*.json")
}

// keyOf returns a handle to a private key given in hex.
func keyOf(t testing.TB, privateKey string) keystore.Key {
	t.Helper()
	return chaintest.Key(t, keystore.CurveSecp256k1, chaintest.Unhex(t, privateKey))
}

// TestContract runs the contract of all chains.
func TestContract(t *testing.T) {
	samples := map[string]chaintest.Sample{}
	for name, v := range vectors(t) {
		samples[name] = chaintest.Sample{Raw: chaintest.Unhex(t, v.Unsigned), Key: keyOf(t, v.PrivateKey)}
	}
	chaintest.Run(t, tempo.Chain{}, samples)
}

func TestVectors(t *testing.T) {
	for name, v := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			key := keyOf(t, v.PrivateKey)
			signed, err := chaintest.Sign(t.Context(), tempo.Chain{}, chaintest.Unhex(t, v.Unsigned), v.Address, key)
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(signed); got != v.Signed {
				t.Errorf("signed\n got %s\nwant %s", got, v.Signed)
			}
			if got := (tempo.Chain{}).Addresses(key.PublicKey())[0].Address; got != v.Address {
				t.Errorf("address %s, want %s", got, v.Address)
			}
		})
	}
}
