package policy_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/policy"
)

// swapRules allow to sell USDC for at least 5 wei, and deny to receive less than 2.
const swapRules = `schema: countersign.policy/2
assets:
  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}
rules:
  - {name: coins, allow: transfer, when: effect.asset.native}
  - {name: nothing-back, deny: receive, when: "effect.asset.native && effect.amount < wei('2')"}
  - name: sells
    allow: transfer
    when: >-
      effect.asset == usdc &&
      effects.exists(e, e.kind == 'receive' && e.asset.native && e.amount >= wei('5'))
    each: 1
`

// TestReceive: what is received needs no rule and counts nowhere, but a rule can require it, and
// a request of it alone is refused.
func TestReceive(t *testing.T) {
	sold := tokens(t, thief, chains.AtMost(big.NewInt(1000)))
	back := func(least int64) chains.Effect {
		return chains.Effect{Kind: chains.KindReceive, By: chains.ByOther, OtherSigner: chains.UnknownParty(), From: chains.UnknownParty(), To: party(t, treasury),
			Asset: chains.Native("eip155:1"), Amount: chains.AtLeast(big.NewInt(least))}
	}
	bySigner := back(5)
	bySigner.By, bySigner.OtherSigner = chains.BySigner, chains.Party{}
	from := func(effect chains.Effect, payer string) chains.Effect {
		effect.From = party(t, payer)
		return effect
	}
	coins := func(amount int64) chains.Effect {
		return chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, From: party(t, treasury), To: party(t, thief),
			Asset: chains.Native("eip155:1"), Amount: chains.Exactly(big.NewInt(amount))}
	}
	for name, c := range map[string]struct {
		effects []chains.Effect
		denied  string // part of the denial; empty if it is allowed
	}{
		"at least 5":                 {[]chains.Effect{sold, back(5)}, ""},
		"by the account that pays":   {[]chains.Effect{from(sold, treasury), back(5)}, ""},
		"by another account":         {[]chains.Effect{from(sold, "0x7777777777777777777777777777777777777777"), back(5)}, "not covered by any rule"},
		"passed on by a router":      {[]chains.Effect{from(sold, "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"), back(5)}, ""},
		"more than is given of it":   {[]chains.Effect{from(sold, treasury), coins(3), back(8)}, ""},
		"less, net of that":          {[]chains.Effect{from(sold, treasury), coins(4), back(8)}, "not covered by any rule"},
		"in two parts, set off once": {[]chains.Effect{from(sold, treasury), coins(3), back(5), back(8)}, ""},
		"in two parts, net nothing":  {[]chains.Effect{from(sold, treasury), coins(13), back(5), back(8)}, "rule nothing-back denies"},
		"at least 4":                 {[]chains.Effect{sold, back(4)}, "not covered by any rule"},
		"nothing said":               {[]chains.Effect{sold}, "not covered by any rule"},
		"at least 1":                 {[]chains.Effect{sold, back(1)}, "rule nothing-back denies"},
		"two, one too little":        {[]chains.Effect{sold, back(5), back(1)}, "rule nothing-back denies"},
		"received alone":             {[]chains.Effect{back(5)}, "nothing that a rule could allow"},
		"received by the signature":  {[]chains.Effect{bySigner}, "nothing that a rule could allow"},
	} {
		_, err := load(t, swapRules).Decide(t.Context(), ask(c.effects...))
		if (err == nil) != (c.denied == "") || err != nil && !strings.Contains(err.Error(), c.denied) {
			t.Errorf("%s: %v, want %q", name, err, c.denied)
		}
	}
	_, err := policy.Parse("p.yaml", []byte("schema: countersign.policy/2\nrules:\n  - {name: a, allow: [transfer, receive]}\n"), options())
	if err == nil || !strings.Contains(err.Error(), "what is received needs no allow") {
		t.Errorf("an allow of what is received: %v", err)
	}
}
