package fuzz

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// vector is a transaction in the testdata of a chain's package, which names its
// source.
type vector struct {
	PrivateKey          string // of secp256k1, with 0x
	SecretKeySeedHex    string // of Ed25519
	Address             string
	UnsignedTransaction string
	SignedTransaction   string
}

// vectorsOf returns the vectors of a chain.
func vectorsOf(f *testing.F, chain string) []vector {
	f.Helper()
	files, err := filepath.Glob("../chains/" + chain + "/testdata/*.json")
	testenv.Must(f, err)
	var vectors []vector
	for _, file := range files {
		text := testenv.Read(f, file)
		var v vector
		if err := json.Unmarshal(text, &v); err != nil {
			f.Fatalf("%s: %v", file, err)
		}
		if v.UnsignedTransaction != "" {
			vectors = append(vectors, v)
		}
	}
	if len(vectors) == 0 {
		f.Fatalf("no vectors of %s", chain)
	}
	return vectors
}

// transactionsOf returns the transactions of a chain's vectors, unsigned and signed.
func transactionsOf(f *testing.F, chain string) [][]byte {
	f.Helper()
	var raw [][]byte
	for _, v := range vectorsOf(f, chain) {
		raw = append(raw, testenv.Hex(f, v.UnsignedTransaction), testenv.Hex(f, v.SignedTransaction))
	}
	return raw
}
