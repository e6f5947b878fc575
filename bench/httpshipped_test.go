package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
)

// BenchmarkHTTPShipped is BenchmarkHTTP of a server that does what serve does by default:
// signatures are verified before they are released, and there is a log. With "rules" a policy of
// 50 rules decides, too. The bare handler does none of that.
func BenchmarkHTTPShipped(b *testing.B) {
	for _, backend := range []string{"memory", "bolt", "postgres"} {
		for _, rules := range []bool{false, true} {
			name := backend
			if rules {
				name += "/rules"
			}
			b.Run(name, func(b *testing.B) {
				compareServers(b, storeClients, measure.Repeats(httpRuns), loadSize(6000), func(key *enginetest.APIKey) spec {
					s := serverSpec(b, backend, key)
					s.Shipped, s.Rules = true, rules
					return s
				})
			})
		}
	}
}

// ship changes a configuration to what serve does by default.
func (s *spec) ship(config *countersign.Config) error {
	if !s.Shipped {
		return nil
	}
	config.ReleaseUnverifiedSignatures, config.Log, config.LogSigner = false, true, newLogSigner()
	if !s.Rules {
		return nil
	}
	file, err := policy.Parse("policy.yaml", []byte(fiftyRules()), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames()})
	if err != nil {
		return err
	}
	config.Policy = policy.NewOrganizations(map[string]*policy.File{enginetest.Organization: file})
	return nil
}

// fiftyRules is a file of 50 rules for five chains and several teams, of which the last two allow
// the transaction of a load.
func fiftyRules() string {
	const payee = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	var text strings.Builder
	text.WriteString("schema: countersign.policy/2\nlists:\n  payees: [\"" + payee + "\"]\nrules:\n")
	chain := []string{"ethereum", "solana", "tron", "bitcoin", "tempo"}
	kinds := []string{"transfer", "approve", "stake", "call", "authority"}
	for i := range 48 {
		fmt.Fprintf(&text, "  - {name: r%d, %s: %s, on: %s, who: {tag: team-%d}, when: 'effect.to in payees'}\n",
			i, []string{"allow", "allow", "allow", "deny"}[i%4], kinds[i/5%5], chain[i%5], i%7)
	}
	text.WriteString("  - {name: payments, allow: transfer, when: \"effect.to in payees && effect.amount <= ether('1')\"}\n")
	text.WriteString("  - {name: gas, allow: fee, when: \"effect.amount <= ether('0.02')\"}\n")
	return text.String()
}
