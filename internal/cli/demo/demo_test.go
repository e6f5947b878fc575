package demo

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// signedPayment is the payment that go-ethereum encodes and signs.
func signedPayment(t *testing.T) (unsigned, signed string, pub keystore.PublicKey) {
	t.Helper()
	secret, err := crypto.GenerateKey()
	testenv.Must(t, err)
	data := append(common.FromHex(transfer), common.LeftPadBytes(common.FromHex(payee), 32)...)
	data = append(data, common.LeftPadBytes(big.NewInt(250_000_000).Bytes(), 32)...)
	usdc := common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	gwei := big.NewInt(1_000_000_000)
	tx := types.NewTx(&types.DynamicFeeTx{
		ChainID: big.NewInt(1), Nonce: 7, GasTipCap: gwei, GasFeeCap: new(big.Int).Mul(gwei, big.NewInt(20)), Gas: 65_000, To: &usdc, Data: data,
	})
	signer := types.LatestSignerForChainID(big.NewInt(1))
	done, err := types.SignTx(tx, signer, secret)
	testenv.Must(t, err)
	raw, err := done.MarshalBinary()
	testenv.Must(t, err)
	if pub, err = keystore.ParsePublicKey(keystore.CurveSecp256k1, crypto.CompressPubkey(&secret.PublicKey)); err != nil {
		t.Fatal(err)
	}
	return signer.Hash(tx).Hex(), hex.EncodeToString(raw), pub
}

// TestPayment compares the demo's transaction with what go-ethereum hashes.
func TestPayment(t *testing.T) {
	want, _, _ := signedPayment(t)
	if got := crypto.Keccak256Hash(common.FromHex(payment)).Hex(); got != want {
		t.Errorf("its hash is %s, want %s", got, want)
	}
}

// TestCheckCanFail: the check of the demo detects a signature by another key, an altered
// transaction, and input that is none.
func TestCheckCanFail(t *testing.T) {
	_, signed, pub := signedPayment(t)
	_, _, other := signedPayment(t)
	if found, err := check(signed, pub); err != nil || found == "" {
		t.Fatalf("%q, %v", found, err)
	}
	if found, err := check(signed, other); err == nil {
		t.Errorf("signed by another key: %s", found)
	}
	for i := range signed {
		digit := strings.IndexByte("0123456789abcdef", signed[i]) ^ 1
		if found, err := check(signed[:i]+string("0123456789abcdef"[digit])+signed[i+1:], pub); err == nil {
			t.Errorf("digit %d altered: %s", i, found)
		}
	}
	for _, text := range []string{"", "00", "zz", payment} {
		if found, err := check(text, pub); err == nil {
			t.Errorf("%q: %s", text, found)
		}
	}
}
