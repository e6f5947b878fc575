package demo

import (
	"encoding/hex"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore"
)

// The transactions, as go-ethereum encodes them: see TestDemoTransactions.
const (
	// EIP-1559 on mainnet: transfer(0x08d2…67B7, 250 000 000) to the USDC contract.
	demoUSDC = "02f86d0107843b9aca008504a817c80082fde894a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844" +
		"a9059cbb00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7000000000000000000000000000000000000000000000000000000000ee6b280c0"

	// The same with an unknown function.
	demoBlind = "02f86d0107843b9aca008504a817c80082fde894a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844" +
		"deadbeef00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7000000000000000000000000000000000000000000000000000000000ee6b280c0"

	// Legacy, without the chain id of EIP-155: 0.05 ether to the same address.
	demoNoChainID = "e8078504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b787b1a2bc2ec5000080"
)

// ethereumDemo checks a payment with go-ethereum, which recovers the sender from the
// signature.
var ethereumDemo = Chain{
	Name:     "Ethereum",
	Kind:     activity.TransactionTypeEthereum,
	Curve:    keystore.CurveSecp256k1,
	does:     "pay 250 USDC",
	Unsigned: func(keystore.PublicKey) (string, error) { return demoUSDC, nil },
	dangers: []demoDanger{
		{"ethereum/no-chain-id", "One without a chain ID, which could be replayed on any chain:", func(keystore.PublicKey) (string, error) { return demoNoChainID, nil }},
	},
	Check: checkEthereum,
}

func checkEthereum(signed string, pub keystore.PublicKey) (string, error) {
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(raw); err != nil {
		return "", err
	}
	sender, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), &tx)
	if err != nil {
		return "", err
	}
	return checkSender(sender, pub)
}

// checkSender compares the sender that go-ethereum recovered with the key's address.
func checkSender(sender common.Address, pub keystore.PublicKey) (string, error) {
	if want := common.Address(pub.KeccakAddress()); sender != want {
		return "", fmt.Errorf("go-ethereum recovers the sender %v, but the key's address is %v", sender, want)
	}
	return fmt.Sprintf("go-ethereum recovers the key's address, %v", sender), nil
}
