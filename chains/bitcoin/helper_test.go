package bitcoin_test

import (
	"errors"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/keystore"
)

// vector is a PSBT and its signed form, by bitcoinjs-lib.
type vector struct {
	PrivateKey          string `json:"privateKey"`
	PublicKey           string `json:"publicKey"`
	Address             string `json:"address"`
	UnsignedTransaction string `json:"unsignedTransaction"`
	SignedTransaction   string `json:"signedTransaction"`
	FinalTransaction    string `json:"finalTransactionHex"`
}

func vectors(t testing.TB) map[string]vector {
	t.Helper()
	return chaintest.Vectors[vector](t, "testdata/*.json")
}

// keyOf makes a key from a secret, with all its capabilities, checked.
func keyOf(t testing.TB, secret []byte) keystore.Key {
	t.Helper()
	return chaintest.Key(t, keystore.CurveSecp256k1, secret)
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
