package keyformat_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// solanaBase58 is from "Restoring a keypair from a secret" of the Solana Cookbook.
const solanaBase58 = "5MaiiCavjCmn9Hs1o3eznqDEhRwxo7pXiAYez7keQUviUkauRiTMD8DrESdrNjN8zd9mTmVhRvBJeg5vhyvgrAhG"

// TestSolanaBase58 compares reading and writing with solana-go.
func TestSolanaBase58(t *testing.T) {
	read, err := keyformat.ParseSolanaBase58([]byte(solanaBase58))
	testenv.Must(t, err)
	other, err := solana.PrivateKeyFromBase58(solanaBase58)
	if err != nil || other.PublicKey() != solana.PublicKey(read.PublicKey.Ed25519()) {
		t.Errorf("read %v; solana-go reads %v, %v", read.PublicKey, other.PublicKey(), err)
	}
	if text, err := read.SolanaBase58(); err != nil || string(text) != solanaBase58 {
		t.Errorf("written as %s, %v", text, err)
	}
}

func TestSolanaBase58Refused(t *testing.T) {
	other := []byte(solanaBase58)
	other[len(other)-1]++
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":            {"", keyformat.ErrMalformed},
		"no base58":          {strings.Replace(solanaBase58, "5", "0", 1), keyformat.ErrMalformed},
		"the seed alone":     {"4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi", keyformat.ErrMalformed},
		"too long":           {solanaBase58 + "1", keyformat.ErrMalformed},
		"another public key": {string(other), keyformat.ErrOtherKey},
	} {
		if _, err := keyformat.ParseSolanaBase58([]byte(c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	key, err := keyformat.NewKey(keystore.CurveSecp256k1, []byte(strings.Repeat("\x01", 32)))
	testenv.Must(t, err)
	if _, err := key.SolanaBase58(); !errors.Is(err, keyformat.ErrUnsupported) {
		t.Errorf("a key on secp256k1: %v", err)
	}
}
