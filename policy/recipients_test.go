package policy_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/policy"
)

// TestPerRecipient: a limit per recipient holds nothing if the requester chooses the recipients. What
// bounds them is a list, an address or our own ones, not a comparison of two things that a request
// has.
func TestPerRecipient(t *testing.T) {
	address := "address('" + treasury + "')"
	for when, loads := range map[string]bool{
		"effect.to in treasury":                                      true,
		"effect.to == " + address:                                    true,
		address + " == effect.to":                                    true,
		"effect.to in [" + address + "]":                             true,
		"effect.to in key.addresses":                                 true,
		"effect.to in treasury || effect.to in key.addresses":        true,
		"effect.asset == usdc && effect.to in treasury":              true,
		"effect.to in treasury || effect.asset == usdc":              false,
		"effect.to == effect.from":                                   false, // of a stranger's money, by an earlier permission, too
		"effect.from == effect.to":                                   false,
		"effect.to == effect.to":                                     false,
		"effect.to in [effect.from]":                                 false,
		"effect.to in [" + address + ", effect.from]":                false,
		"effect.to == effect.account":                                false,
		"effect.to in effect.owners":                                 false,
		"effect.to == effect.asset.token":                            false,
		"effect.to == eth.tx.to":                                     false,
		"eth.tx.to == effect.to":                                     false,
		"effects.exists(e, e.to == effect.to)":                       false,
		"effects.all(e, e.to in treasury)":                           false,
		"effect.to != " + address:                                    false,
		"!(effect.to in treasury)":                                   false,
		"effect.from in treasury":                                    false,
		"has(effect.to)":                                             false,
		"effect.to in (effect.by == 'signer' ? treasury : treasury)": false, // not understood
	} {
		rule := "{name: a, allow: transfer, on: ethereum, limit: d, when: \"" + when + "\"}"
		_, err := policy.Parse("p.yaml", []byte(head+"limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: to}\nrules:\n  - {name: uses, deny: mint, when: 'effect.asset == usdc && effect.to in treasury'}\n  - "+rule+"\n"), options())
		if refused := err != nil && strings.Contains(err.Error(), "a thief can use any number of recipients"); refused == loads || err != nil && !refused {
			t.Errorf("%s: %v", when, err)
		}
	}
}
