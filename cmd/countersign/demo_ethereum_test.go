package main

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

var (
	demoRecipient = common.HexToAddress("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7")
	usdc          = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
)

// TestDemoTransactions makes the transactions of the demonstration again, with
// go-ethereum's encoder.
func TestDemoTransactions(t *testing.T) {
	transfer := append([]byte{0xa9, 0x05, 0x9c, 0xbb}, common.LeftPadBytes(demoRecipient[:], 32)...)
	transfer = append(transfer, common.LeftPadBytes(big.NewInt(250_000_000).Bytes(), 32)...)
	gwei := big.NewInt(1_000_000_000)
	dynamicFee := []any{uint64(1), uint64(7), gwei, new(big.Int).Mul(gwei, big.NewInt(20)), uint64(65_000), usdc, new(big.Int), transfer, []any{}}
	legacy := []any{uint64(7), new(big.Int).Mul(gwei, big.NewInt(20)), uint64(21_000), demoRecipient, new(big.Int).Mul(gwei, big.NewInt(50_000_000)), []byte{}}
	for _, test := range []struct {
		name, want string
		prefix     []byte
		items      []any
	}{
		{"demoUSDC", demoUSDC, []byte{2}, dynamicFee},
		{"demoNoChainID", demoNoChainID, nil, legacy},
	} {
		encoded, err := rlp.EncodeToBytes(test.items)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(append(test.prefix, encoded...)); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestDemoCheckCanFail: the check of the demonstration does not pass whatever it
// is given.
func TestDemoCheckCanFail(t *testing.T) {
	const signed = "02f86f0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b84deadbeefc001a07a7745bbe4fc2a70b0c0a7dfa2ddd858810acd9e62a28b971b66742ebd0d2bcca03b5d1bedf18aa6f426912942b55ffa5d504672c77547a3dfc6b628d24dbdcba8"
	keys := memory.New()
	defer keys.Close()
	other, err := keys.Generate("org", "", keystore.CurveSecp256k1)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{signed, strings.Replace(signed, "deadbeef", "deadbeee", 1), signed[2:], "zz"} {
		if found, err := checkEthereum(wrong, other.PublicKey); err == nil {
			t.Errorf("%s was found to be in order: %s", wrong, found)
		}
	}
}
