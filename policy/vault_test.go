package policy_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/store/memory"
)

// TestVaultsUnderPolicies: what a deposit in a vault takes is of a token that the bytes do
// not name. It is over every limit, and in no list of tokens or payees.
func TestVaultsUnderPolicies(t *testing.T) {
	const deposit = "02f86e0101843b9aca008504a817c800830493e094a511d618cd0f9d7cad791009d7c5e3b19c9568da80b8446e553f650000000000000000000000000000000000000000000000000de0b6b3a764000000000000000000000000000097cc56300c36f60c7fb7c50babc6c5cdf59d5c56c0"
	for rule, reason := range map[string]string{
		"allow: transfer":                                        "",
		"allow: transfer, limit: day":                            "its asset is unknown",
		"allow: transfer, when: \"effect.asset == usdc\"":        "not covered by any rule",
		"allow: transfer, when: \"effect.to in payees\"":         "not covered by any rule",
		"allow: transfer, when: \"effect.amount <= ether('1')\"": "not covered by any rule",
	} {
		f := enginetest.New(t)
		config := countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: f.Signing, Store: memory.New(0), Now: f.Clock.Now}
		engines.WithPolicy(t, strings.Join([]string{"schema: countersign.policy/2", "lists:", `  payees: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"]`, "assets:",
			`  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}`, "limits:",
			`  - {name: day, asset: usdc, max: "400", window: 24h, per: key}`, "rules:",
			"  - {name: vaults, " + rule + "}", "  - {name: gas, allow: fee, when: \"effect.amount <= ether('0.02')\"}",
			`  - {name: allowances, allow: approve, when: "effect.to in payees && effect.asset == usdc", limit: day}`, ""}, "\n"))(&config)
		engine, err := countersign.New(config)
		testenv.Must(t, err)
		_, err = engine.As(engines.Machine, "").SignTransaction(t.Context(), enginetest.Organization,
			activity.SignTransactionIntent{SignWith: "key-1", UnsignedTransaction: deposit, Type: activity.TransactionTypeEthereum})
		if reason == "" {
			if err != nil {
				t.Errorf("%s: %v", rule, err)
			}
			continue
		}
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, reason)
	}
}
