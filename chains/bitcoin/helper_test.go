package bitcoin_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// vector is a PSBT and its signed form, by bitcoinjs-lib.
type vector struct {
	Name                string
	PrivateKey          string `json:"privateKey"`
	PublicKey           string `json:"publicKey"`
	Address             string `json:"address"`
	UnsignedTransaction string `json:"unsignedTransaction"`
	SignedTransaction   string `json:"signedTransaction"`
	FinalTransaction    string `json:"finalTransactionHex"`
}

func vectors(t testing.TB) []vector {
	t.Helper()
	paths, err := filepath.Glob("testdata/vectors/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	all := make([]vector, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &all[i]); err != nil {
			t.Fatal(err)
		}
		all[i].Name = strings.TrimSuffix(filepath.Base(path), ".json")
	}
	return all
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// keyOf makes a key from a secret, with all its capabilities, checked.
func keyOf(t testing.TB, secret []byte) keystore.Key {
	t.Helper()
	store := memory.New()
	info, err := store.Add("org", memory.Key{Curve: keystore.CurveSecp256k1, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.Find(t.Context(), "org", keystore.ByID(info.ID))
	if err != nil {
		t.Fatal(err)
	}
	return keystore.Verified(key)
}

// secretOf is a test key's secret: all bytes the same.
func secretOf(b byte) []byte {
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = b
	}
	return secret
}

func parse(t testing.TB, raw []byte) *bitcoin.Transaction {
	t.Helper()
	tx, err := bitcoin.New(bitcoin.Limits{}).Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tx.(*bitcoin.Transaction)
}

// refused parses raw and returns the refusal, which names field and byte.
func refused(t testing.TB, raw []byte) *chains.ParseError {
	t.Helper()
	_, err := bitcoin.New(bitcoin.Limits{}).Parse(raw)
	parse, ok := errors.AsType[*chains.ParseError](err)
	if !ok {
		t.Fatalf("accepted, or refused otherwise: %v", err)
	}
	return parse
}

func hazardNames(hazards []chains.Hazard) []string {
	names := []string{}
	for _, hazard := range hazards {
		names = append(names, hazard.Name)
	}
	return names
}
