package wallet_test

import (
	"testing"

	"github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// TestSolanaKeygen is "Restoring a keypair from a mnemonic (BIP39)" in the Solana Cookbook, which
// matches solana-keygen.
func TestSolanaKeygen(t *testing.T) {
	secret, err := wallet.SolanaKeygen([]byte("pill tomorrow foster begin walnut borrow virtual kick shift mutual shoe scatter"), nil)
	testenv.Must(t, err)
	key, err := keyformat.NewKey(keystore.CurveEd25519, secret)
	testenv.Must(t, err)
	if got := solana.PublicKey(key.PublicKey.Ed25519()).String(); got != "5ZWj7a1f8tWkjBESHKgrLmXshuXxqeY9SYcfbshpAqPG" {
		t.Errorf("the address is %s", got)
	}
	if _, err := wallet.SolanaKeygen([]byte("pill tomorrow"), nil); err == nil {
		t.Error("two words are a mnemonic")
	}
}
