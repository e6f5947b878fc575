package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/policy"
)

// example is the file of the documentation, with its tests.
const example = `
schema: countersign.policy/1
lists:
  treasury: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "bc1q0xcqpzrky6eff2g52qdye53xkk9jxkvrh6yhyw"]
assets:
  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}
limits:
  - {name: usdc-day, asset: usdc, max: "10000", window: 24h, per: key}
rules:
  - name: agent-pays-treasury
    allow: transfer
    who: {tag: agent}
    key: [hot-1]
    when: effect.asset == usdc && effect.to in treasury && effect.amount <= amount(usdc, '1000')
    limit: [usdc-day]
  - {name: gas, allow: fee, when: "effect.amount <= ether('0.02')"}
  - {name: router, allow: call, when: "effect.to == address('0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af')", hazards: [blind-call]}
  - name: large
    allow: transfer
    who: {tag: agent}
    when: effect.asset == usdc
    approvals: [{count: 2, tag: finance, not: submitter}]
    within: 24h
  - {name: no-lookups, deny: request, on: solana, when: "effects.exists(e, e.unresolved.size() > 0)"}
  - {name: office-hours, deny: request, when: "!time.within('Mo-Fr 08:00-18:00 Europe/Berlin')"}
tests:
  - &x
`

func load(t *testing.T, text string) *policy.File {
	t.Helper()
	file, err := policy.Parse("policy.yaml", []byte(text), policy.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return file
}

func TestExample(t *testing.T) {
	text := strings.Replace(example, "  - &x\n", `
  - {effects: [{kind: transfer, to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", asset: usdc, amount: "1000"}], as: bot, tags: [agent], key: hot-1, at: 2026-11-23T09:00:00Z, on: ethereum, expect: allow, rule: agent-pays-treasury}
  - {effects: [{kind: transfer, to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", asset: usdc, amount: "1000.000001"}], as: bot, tags: [agent], key: hot-1, at: 2026-11-23T09:00:00Z, on: ethereum, expect: approvals, rule: large}
  - {effects: [{kind: transfer, to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", asset: usdc, amount: "1000"}], spent: {usdc-day: "9001"}, as: bot, tags: [agent], key: hot-1, at: 2026-11-23T09:00:00Z, on: ethereum, expect: approvals, rule: large}
  - {effects: [{kind: transfer, to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", asset: usdc, amount: "1000"}], as: bot, tags: [agent], key: hot-1, at: 2026-11-22T09:00:00Z, on: ethereum, expect: deny, rule: office-hours}
  - {effects: [{kind: fee, asset: "eip155:1", amount: "0.02"}], as: bot, at: 2026-11-23T09:00:00Z, on: ethereum, expect: allow, rule: gas}
  - {effects: [{kind: call, undecoded: true, to: "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"}], as: bot, at: 2026-11-23T09:00:00Z, on: ethereum, expect: allow, rule: router}
`, 1)
	load(t, text)
}

func TestProblems(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"empty", "", "one YAML document"},
		{"misspelt member", "schema: countersign.policy/1\nrule: []\n", "2:1: the file has no member rule: did you mean rules?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := policy.Parse("p.yaml", []byte(test.file), policy.Options{})
			var problems *policy.Error
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v\nwant %s", err, test.want)
			}
		})
	}
}

var _ countersign.Decider = (*policy.File)(nil)
