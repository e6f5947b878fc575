package interop

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// evmClientHazards are the hazards of what clients write; none of the others.
var evmClientHazards = map[string][]string{
	"viem ERC-20 approve without limit": {"ethereum/unlimited-approval"},
	"viem ERC-721 setApprovalForAll":    {"ethereum/unlimited-approval"},
	"viem EIP-7702 delegation":          {ethereum.HazardDelegation},
	"tempo token.grantRoles":            {"tempo/authority-change"},
	"tempo token.setRoleAdmin":          {"tempo/authority-change"},
	"tempo policy.setAdmin":             {"tempo/authority-change"},

	// An account without code ignores the bytes; a contract does with them what it
	// does, and the transaction does not say which it is.
	"viem transfer with a text": {"ethereum/blind-call"},
	// The account's delegate does it, and the transaction does not name that.
	"viem ERC-7821 batch by oneself": {"ethereum/blind-call"},
	// Functions of one contract, and one that no standard bounds.
	"viem swap by a router with data of its own": {"ethereum/blind-call"},
	"ethers transferOwnership":                   {"ethereum/blind-call", "ethereum/authority-change"},
	"tempo validator.changeOwner":                {"tempo/blind-call"},
}

// evmClient is a transaction as a client hands it to its account to sign.
type evmClient struct{ Name, Chain, Transaction string }

// TestEVMClients: what viem, ethers and viem/tempo build for wallets and
// applications is decoded whole, and signed by default but for what gives something
// away, destroys it, or calls what no standard describes.
func TestEVMClients(t *testing.T) {
	key := evmClientKey(t)
	counts := map[string]*testenv.Outcomes{"ethereum": {}, "tempo": {}}
	for _, c := range printed[evmClient](t, "evmclients.mjs") {
		var chain chains.Chain = ethereum.Chain{}
		if c.Chain == "tempo" {
			chain = tempo.Chain{}
		}
		raw, err := hex.DecodeString(c.Transaction)
		if err != nil {
			t.Fatal(err)
		}
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

// isBlind reports whether something of a transaction is not accounted for.
func isBlind(effects []chains.Effect) bool {
	return slices.ContainsFunc(effects, func(e chains.Effect) bool { return e.Undecoded })
}

func evmClientKey(t *testing.T) keystore.Key {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	info, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: bytes.Repeat([]byte{0x46}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.Find(t.Context(), "org", keystore.ByID(info.ID))
	if err != nil {
		t.Fatal(err)
	}
	return keystore.Verified(key)
}
