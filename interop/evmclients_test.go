package interop

import (
	"bytes"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// evmClientHazards are the hazards of the transactions that have any.
var evmClientHazards = map[string][]string{
	"viem ERC-20 approve without limit": {"ethereum/unlimited-approval"},
	"viem ERC-721 setApprovalForAll":    {"ethereum/unlimited-approval"},
	"viem EIP-7702 delegation":          {ethereum.HazardDelegation},
	"tempo token.grantRoles":            {"tempo/authority-change"},
	"tempo token.setRoleAdmin":          {"tempo/authority-change"},
	"tempo policy.setAdmin":             {"tempo/authority-change"},
	// All rewards from now on, for another account.
	"tempo reward.setRecipient": {"tempo/unlimited-approval"},
	// The transaction does not name the account's delegate, which executes it.
	"viem ERC-7821 batch by oneself": {"ethereum/blind-call"},
	// Functions of a single contract, and one that no standard restricts.
	"viem swap by a router with data of its own": {"ethereum/blind-call"},
	"ethers transferOwnership":                   {"ethereum/blind-call", "ethereum/authority-change"},
	"tempo validator.changeOwner":                {"tempo/blind-call"},
}

// evmClient is a transaction that a client has its account sign.
type evmClient struct{ Name, Chain, Transaction string }

// TestEVMClients checks that the transactions that viem, ethers and viem/tempo build for
// wallets and applications are fully decoded, and signed by default unless they give
// something away, destroy it, or call what no standard describes.
func TestEVMClients(t *testing.T) {
	key := evmClientKey(t)
	counts := map[string]*testenv.Outcomes{"ethereum": {}, "tempo": {}}
	for _, c := range printed[evmClient](t, "evmclients.mjs") {
		var chain chains.Chain = ethereum.Chain{}
		if c.Chain == "tempo" {
			chain = tempo.Chain{}
		}
		raw := testenv.Hex(t, c.Transaction)
		tx, err := chain.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		signing, err := chaintest.Ready(tx, chain.Addresses(key.PublicKey())[0].Address, key)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		hazards := chaintest.Names(signing.Hazards())
		if want := evmClientHazards[c.Name]; !slices.Equal(hazards, want) {
			t.Errorf("%s: hazards %v, want %v", c.Name, hazards, want)
		}
		counts[c.Chain].Add(isBlind(signing.Effects()), len(hazards))
	}
	testenv.ClientRow(t, "viem, ethers", *counts["ethereum"])
	testenv.ClientRow(t, "viem/tempo", *counts["tempo"])
	t.Logf("by default: %+v on Ethereum, %+v on Tempo", *counts["ethereum"], *counts["tempo"])
}

// isBlind reports whether an effect is undecoded.
func isBlind(effects []chains.Effect) bool {
	return slices.ContainsFunc(effects, func(e chains.Effect) bool { return e.Undecoded })
}

func evmClientKey(t *testing.T) keystore.Key {
	t.Helper()
	return chaintest.Key(t, keystore.CurveSecp256k1, bytes.Repeat([]byte{0x46}, 32))
}
