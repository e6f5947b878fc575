package demo

import (
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"
)

var (
	demoRecipient = common.HexToAddress("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7")
	usdc          = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
)

// TestDemoTransactions compares the demo's transactions with go-ethereum's encoding.
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
