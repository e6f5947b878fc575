package ethereum_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/gethoracle"
	"github.com/countersign-dev/countersign/keystore"
)

// TestGeneratedAgainstGoEthereum compares the signed bytes of random transactions of
// all types with types.SignNewTx and MarshalBinary.
func TestGeneratedAgainstGoEthereum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for number := range 3000 {
		c := gethoracle.Generate(random, number%gethoracle.Kinds)
		if err := gethoracle.Refuses(c.Unsigned); err != nil {
			t.Fatalf("the oracle refuses what it made: %x: %v", c.Unsigned, err)
		}
		key := evmtest.Key(t, hex.EncodeToString(crypto.FromECDSA(c.Key)))
		inputs := [][]byte{c.Unsigned}
		if c.Tx.Type() != types.LegacyTxType {
			inputs = append(inputs, gethoracle.WithEmptySignature(c.Unsigned))
		}
		for _, input := range inputs {
			if signed := evmtest.SignRaw(t, ethereum.Chain{}, input, key); !bytes.Equal(signed, c.Signed) {
				t.Fatalf("%x\n got %x\nwant %x", input, signed, c.Signed)
			}
		}
		checkSender(t, c.Signed, key.PublicKey())
	}
}

// sign prepares and signs a transaction.
func sign(t testing.TB, tx chains.Transaction, key keystore.Key, signWith string) ([]byte, error) {
	t.Helper()
	signing, err := chaintest.Ready(tx, signWith, key)
	if err != nil {
		return nil, err
	}
	return signing.AppendSigned(t.Context(), nil)
}

// checkSender decodes a signed transaction with go-ethereum, checks its sender, and
// returns it.
func checkSender(t testing.TB, signed []byte, pub keystore.PublicKey) *types.Transaction {
	t.Helper()
	decoded := decodeSigned(t, signed)
	var signer types.Signer = types.HomesteadSigner{}
	if decoded.Protected() {
		signer = types.LatestSignerForChainID(decoded.ChainId())
	}
	sender, err := types.Sender(signer, decoded)
	if err != nil || sender != common.Address(evm.AddressOf(pub)) {
		t.Errorf("%x: sender %v (%v), want %v", signed, sender, err, evm.AddressOf(pub))
	}
	return decoded
}

func decodeSigned(t testing.TB, signed []byte) *types.Transaction {
	t.Helper()
	decoded := new(types.Transaction)
	if err := decoded.UnmarshalBinary(signed); err != nil {
		t.Fatalf("go-ethereum does not decode %x: %v", signed, err)
	}
	return decoded
}
