package policy_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/policy"
)

// warningsOf returns the warnings about a rule with a condition.
func warningsOf(t *testing.T, scope, when string) string {
	t.Helper()
	file := load(t, head+"rules:\n  - {name: a, "+scope+", when: \""+when+"\"}\n  - {name: uses, allow: transfer, when: 'effect.to in treasury || effect.asset == usdc'}\n")
	var warnings []string
	for _, one := range file.Warnings() {
		if one.Rule == "a" {
			warnings = append(warnings, one.Message)
		}
	}
	return strings.Join(warnings, "\n")
}

// TestAlways: a condition that is true for every request, or false, is warned of in whatever
// form it is written, and no other is.
func TestAlways(t *testing.T) {
	for when, want := range map[string]string{
		"true": "true", "1 == 1": "true", "[].all(x, true)": "true", "effects.all(e, true)": "true", "effects.exists(e, true)": "true",
		"true || effect.to in treasury": "true", "effect.to in treasury || true": "true", "!(false && effect.to in treasury)": "true",
		"has(effect.kind) ? true : false": "true", "has(effect.to) ? true : true": "true", "has(effect.to) || !has(effect.to)": "true",
		"effect.kind == 'transfer' || effect.kind == 'fee'": "true", "effect.kind in ['transfer', 'fee', 'mint']": "true", "effect.kind != 'mint'": "true",
		"effect.amount >= wei('0')": "true", "!(effect.amount < ether('0.0'))": "true", "effect.amount < wei('5') || effect.amount >= wei('5')": "true",
		"effect.amount <= wei('5') || wei('5') < effect.amount": "true", "effect.to == effect.to": "true", "size(effects) >= 0": "true",
		"''.startsWith('') && 'a' == 'a' && 2 < 3": "true", "effect.function.contains('')": "true", "[1, 2].exists(n, n == n)": "true",
		"address('" + treasury + "') == effect.to || effect.to != address('" + treasury + "')": "true",

		"effect.to in treasury && !(effect.to in treasury)": "never", "1 > 2 && effect.to in treasury": "never", "effect.amount < wei('0')": "never",
		"[].exists(x, true)": "never", "effects.exists(e, e.to != e.to)": "never", "[1].all(n, n != n)": "never",

		"has(effect.to) ? true : false": "", "effect.kind == 'fee'": "", "effect.amount > wei('0')": "", "effect.to in treasury": "",
		"effects.all(e, e.kind == 'fee')": "", "effects.exists(e, e.kind == 'fee')": "", "effect.amount < wei('5') || effect.amount > wei('5')": "",
		"effect.to in treasury || has(effect.to)": "", "[1, 2].all(n, n == 1 || effect.to in treasury)": "", "effect.function.startsWith('a')": "",
	} {
		got := warningsOf(t, "allow: [transfer, fee]", when)
		if strings.Contains(got, "always true") != (want == "true") || strings.Contains(got, "never true") != (want == "never") {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
		if want == "true" { // and so it is, for a request that has all that it asks for
			asked := ask(ether(t, treasury, 5))
			asked.Effects[0].Function = "a()"
			if said, _ := decide(t, head+"rules:\n  - {name: is, allow: [transfer, fee], when: \""+when+"\"}\n  - {name: uses, deny: mint, when: 'effect.to in treasury || effect.asset == usdc'}\n", asked); !strings.HasPrefix(said, "allowed") {
				t.Errorf("%s: %s", when, said)
			}
		}
	}
}

// TestComparedAmounts: comparisons of amounts with different units are warned of, and so is a
// unit of one coin in a rule that names no chain.
func TestComparedAmounts(t *testing.T) {
	const several, never, coin = "compares amounts of several chains", "that is always an error", "ether counts ETH"
	for when, want := range map[string][]string{
		"effect.amount <= gwei('5') || effect.amount <= sol('0.001')":                                                               {several},
		"wei('1') < lamports('1')":                                                                                                  {never},
		"request.total(usdc) <= sun('1')":                                                                                           {never},
		"request.total(usdc) + amount(usdc, '1') <= amount(usdc, '2')":                                                              nil,
		"effect.amount <= units('5') || effect.amount <= sol('1')":                                                                  nil,
		"effect.asset.chain == 'solana' ? effect.amount <= sol('1') : effect.amount <= ether('1')":                                  nil,
		"effect.asset.chain == 'solana' && effect.amount <= sol('1') || effect.asset == usdc && effect.amount <= amount(usdc, '5')": nil,
		"effect.amount <= ether('1')":                                                                                               {coin},
		"effects.all(e, e.amount <= ether('1'))":                                                                                    {coin},
		"effect.asset.chain == 'eip155:1' && effect.amount <= ether('1')":                                                           nil,
		"request.value <= wei('1')":                                                                                                 {never},
		"effects.all(e, lamports('1') > e.value)":                                                                                   {never},
		"effect.value <= request.value && has(request.value)":                                                                       nil,
		"effect.amount <= wei('1')":                                                                                                 nil,
		"effect.amount <= ether('1') || effect.amount <= sol('1') || true == true":                                                  {several, coin},
	} {
		got := warningsOf(t, "allow: transfer", when)
		for _, warning := range []string{several, never, coin} {
			wanted := strings.Contains(strings.Join(want, " "), warning)
			if strings.Contains(got, warning) != wanted {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
	}
	if got := warningsOf(t, "allow: transfer, on: solana", "effect.amount <= gwei('1')"); !strings.Contains(got, never) {
		t.Errorf("on another chain: %q", got)
	}
	if got := warningsOf(t, "deny: transfer, on: ethereum", "eth.tx.value > sol('1')"); !strings.Contains(got, never) {
		t.Errorf("of another chain's transaction: %q", got)
	}
}

// TestEther: an amount in ether is one of the chains whose coin is ether. On others, and on
// chains whose coin is not known, comparing it is an error, so that nothing is allowed and
// denies deny. Source: web3/web3.js#2378, sent on the wrong chain.
func TestEther(t *testing.T) {
	for chain, isEther := range map[string]bool{
		"eip155:1": true, "eip155:8453": true, "eip155:42161": true, "eip155:11155111": true,
		"eip155:30": false, "eip155:4114": false, "eip155:56": false, "eip155:137": false, "eip155:987654321": false, "eip155": false,
	} {
		effect := ether(t, treasury, 1)
		effect.Asset = chains.Native(chain)
		asked := ask(effect)
		about(&asked, "ethereum", chains.Amount("value", big.NewInt(1), 18, "X"))
		for _, when := range []string{"effect.amount <= ether('1')", "eth.tx.value <= ether('1')", "ether('1') >= effect.amount"} {
			scope := ", on: ethereum"
			got, _ := decide(t, head+"rules:\n  - {name: a, allow: transfer"+scope+", when: \"effect.to in treasury && "+when+"\"}\n  - {name: uses, deny: mint, when: effect.asset == usdc}\n", asked)
			if strings.HasPrefix(got, "allowed") != isEther {
				t.Errorf("%s on %s: %s", when, chain, got)
			}
		}
		got, _ := decide(t, head+"rules:\n  - {name: no, deny: transfer, when: \"effect.amount > ether('1')\"}\n  - {name: a, allow: transfer, when: 'effect.to in treasury || effect.asset == usdc'}\n", asked)
		if strings.HasPrefix(got, "allowed") != isEther {
			t.Errorf("a deny on %s: %s", chain, got)
		}
		if got, _ := decide(t, head+"rules:\n  - {name: a, allow: transfer, when: \"effect.to in treasury && effect.amount <= gwei('1')\"}\n  - {name: uses, deny: mint, when: effect.asset == usdc}\n", asked); !strings.HasPrefix(got, "allowed") {
			t.Errorf("gwei on %s: %s", chain, got)
		}
	}
}

// TestConsequences: what follows from an error is not an error of its own.
func TestConsequences(t *testing.T) {
	const good = "  - {name: pays, allow: transfer, when: 'effect.to in treasury && effect.asset == usdc'}\n"
	for name, text := range map[string]string{
		"an address with a wrong checksum":    "schema: countersign.policy/2\nlists:\n  payees: [\"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067b7\"]\nrules:\n  - {name: a, allow: transfer, when: effect.to in payees}\n",
		"a kind that there is not":            head + "limits:\n  - {name: day, asset: usdc, max: \"5\", window: 24h, per: key}\nrules:\n" + good + "  - {name: a, allow: approvel, limit: day}\n",
		"a condition that ends in the middle": head + "limits:\n  - {name: day, asset: usdc, max: \"5\", window: 24h, per: to}\nrules:\n" + good + "  - {name: a, allow: transfer, limit: day, when: '1 <'}\n",
		"an asset on no chain":                "schema: countersign.policy/2\nassets:\n  coin: {chain: \"eip155\", token: native}\nrules:\n  - {name: a, allow: transfer, when: effect.asset == coin}\n",
		"a limit of an unknown asset":         head + "limits:\n  - {name: day, asset: usd, max: \"5\", window: 24h, per: key}\nrules:\n" + good + "  - {name: a, allow: transfer, limit: day, when: effect.to in treasury}\n",
	} {
		_, err := policy.Parse("p.yaml", []byte(text), options())
		failure, ok := errors.AsType[*source.Error](err)
		if !ok || len(failure.Problems) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
