package policy_test

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// fiftyRules is a file of 50 rules for five chains and several teams.
func fiftyRules() string {
	var text strings.Builder
	text.WriteString(head + "rules:\n")
	chain := []string{"ethereum", "solana", "tron", "bitcoin", "tempo"}
	kinds := []string{"transfer", "approve", "stake", "call", "authority"}
	for i := range 48 {
		fmt.Fprintf(&text, "  - {name: r%d, %s: %s, on: %s, who: {tag: team-%d}, when: 'effect.to in treasury'}\n",
			i, []string{"allow", "allow", "allow", "deny"}[i%4], kinds[i/5%5], chain[i%5], i%7)
	}
	text.WriteString("  - {name: agent, allow: transfer, who: {tag: agent}, when: \"effect.asset == usdc && effect.to in treasury && effect.amount <= amount(usdc, '1000')\"}\n")
	text.WriteString("  - {name: gas, allow: fee, when: \"effect.amount <= ether('0.02')\"}\n")
	return text.String()
}

// BenchmarkDecide decides about a token transfer and its fee with a file of 50 rules, to be
// compared with BenchmarkVerifiedSignature.
func BenchmarkDecide(b *testing.B) {
	file := load(b, fiftyRules())
	fee := chains.Effect{Kind: chains.KindFee, By: chains.BySigner, Asset: chains.Native("eip155:1"), Amount: chains.AtMost(big.NewInt(1e15))}
	asked := ask(tokens(b, treasury, chains.Exactly(big.NewInt(5))), fee)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := file.Decide(b.Context(), asked); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifiedSignature(b *testing.B) {
	key, err := crypto.GenerateKey()
	testenv.Must(b, err)
	public := crypto.CompressPubkey(&key.PublicKey)
	digest := sha256.Sum256([]byte("transaction"))
	for b.Loop() {
		signature, err := crypto.Sign(digest[:], key)
		if err != nil || !crypto.VerifySignature(public, digest[:], signature[:64]) {
			b.Fatal(err)
		}
	}
}
