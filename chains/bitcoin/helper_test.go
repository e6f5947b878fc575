package bitcoin_test

import (
	"errors"
	"slices"
	"strconv"
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

// signDefault signs a PSBT as an engine does that allows these hazards alone. It
// returns what is shown to leave the key, in satoshi, fee included; not ok if
// the PSBT is refused.
func signDefault(t testing.TB, raw []byte, key keystore.Key, signWith string, allowed ...string) (signed []byte, leaving int64, ok bool) {
	t.Helper()
	tx, err := bitcoin.New(bitcoin.Limits{}).Parse(raw)
	if err != nil {
		return nil, 0, false
	}
	for _, hazard := range tx.Hazards(key.PublicKey()) {
		if !slices.Contains(allowed, hazard.Name) {
			return nil, 0, false
		}
	}
	if signed, err = tx.AppendSigned(t.Context(), nil, key, signWith); err != nil {
		return nil, 0, false
	}
	for _, field := range tx.SignerView(key.PublicKey()) {
		value, _ := strconv.ParseInt(field.Value, 10, 64)
		switch field.Label {
		case "ours in":
			leaving += value
		case "ours out":
			leaving -= value
		}
	}
	return signed, leaving, true
}
