package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/policy"
)

// TestWrongFiles: mistakes are found at load, at their place.
func TestWrongFiles(t *testing.T) {
	rule := func(rest string) string { return head + "rules:\n  - {name: a, " + rest + "}\n" }
	when := func(condition string) string {
		return head + "rules:\n  - name: a\n    allow: transfer\n    when: " + condition + "\n"
	}
	for _, test := range []struct{ name, file, want string }{
		{"empty", "", "the file is empty"}, {"a comment", "# later\n", "the file is empty"},
		{"misspelt member", "schema: countersign.policy/2\nrule: []\n", "2:1: the file has no member rule: did you mean rules?"},
		{"other schema", "schema: countersign.policy/9\nrules: []\n", "1:9: schema countersign.policy/9 is not known"},
		{"twice", "schema: countersign.policy/2\nrules: []\nrules: []\n", "rules"},
		{"anchor", "schema: &a countersign.policy/2\nrules: []\n", "anchors and aliases"},
		{"alias bomb", "a: &a [x,x]\nb: &b [*a,*a]\n", "anchors and aliases"},
		{"tag", "schema: !!str countersign.policy/2\n", "tags"},
		{"two documents", "schema: countersign.policy/2\n---\nrules: []\n", "one YAML document"},
		{"deep", "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested"},
		{"tab", "a:\n\t- b\n", "a tab"},
		{"no rules", "schema: countersign.policy/2\n", "rules is missing"},
		{"checksum", "schema: countersign.policy/2\nlists:\n  t: [\"0x08d2b0a37f869FF76BACB5Bab3278E26ab7067B7\"]\n", "3:7: address"},
		{"short address", "schema: countersign.policy/2\nlists:\n  t: [\"0x08d2\"]\n", "2 bytes, an address has 20"},
		{"bitcoin", "schema: countersign.policy/2\nlists:\n  t: [bc1q0xcqpzrky6eff2g52qdye53xkk9jxkvrh6yhyx]\n", "address"},
		{"tron", "schema: countersign.policy/2\nlists:\n  t: [TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwm]\n", "mistyped"},
		{"unused list", head + "rules:\n  - {name: a, allow: transfer, when: effect.asset == usdc}\n", "no rule uses the list treasury"},
		{"unused asset", head + "rules:\n  - {name: a, allow: transfer, when: effect.to in treasury}\n", "nothing uses the asset usdc"},
		{"name taken", "schema: countersign.policy/2\nlists:\n  effect: [\"" + treasury + "\"]\n", "has another meaning"},
		{"kind", rule("allow: transfers"), "transfers is not a kind of effect: did you mean transfer?"},
		{"transaction", rule("allow: transaction"), "transaction is not a scope"},
		{"both", rule("allow: transfer, deny: fee"), "either allows or denies"},
		{"deny with limit", rule("deny: transfer, hazards: [blind-call]"), "a deny has no limit"},
		{"hazard", rule("allow: call, hazards: [ethereum/blind]"), "there is no hazard ethereum/blind"},
		{"limit", rule("allow: transfer, limit: day"), "there is no limit day"},
		{"field of another", when("effect.chain == 'eip155:1'"), "9:17: rule a: there is no member chain here: asset has one"},
		{"arithmetic", when("effect.amount * 2 < ether('1')"), "no operator *: conditions compare and do not calculate"},
		{"minus", when("-effect.amount < ether('1')"), "there is no operator -: conditions"},
		{"no such list", when("effect.to in payees"), "there is no payees here: define it under lists or assets"},
		{"= for ==", when("effect.asset = usdc"), "write == to compare"},
		{"= without spaces", when("effect.kind=='fee' && effect.asset=usdc"), "write == to compare"},
		{"===", when("effect.asset === usdc"), "write == to compare"},
		{"<>", when("effect.kind <> 'fee'"), "write != for unequal"},
		{"and", when("effect.mine and effect.change"), "write && for and"},
		{"AND", when("effect.mine AND effect.change"), "write && for and"},
		{"one &", when("effect.mine & effect.change"), "write && for and"},
		{"or", when("effect.mine or effect.change"), "write || for or"},
		{"OR", when("effect.mine OR effect.change"), "write || for or"},
		{"one |", when("effect.mine | effect.change"), "write || for or"},
		{"not", when("not effect.mine"), "write ! for not"},
		{"not, inside", when("effect.mine && not effect.change"), "write ! for not"},
		{"misspelt field", when("effect.amuont < ether('1')"), "9:17: rule a: there is no member amuont here: did you mean amount?"},
		{"misspelt name", when("effect.to in treasuri"), "there is no treasuri here: did you mean treasury?"},
		{"bare number", when("effect.amount < 5"), "compared with a bare number"},
		{"text for address", when(`effect.to == '` + treasury + `'`), "write address('0x…')"},
		{"wrong literal", when("effect.to == address('" + strings.ToLower(treasury[:20]) + treasury[20:] + "')"), "9:32: rule a: address"},
		{"wrong unit", when("effect.amount < ether('0,5')"), `"0,5" is not a decimal number`},
		{"too fine", when("effect.amount < gwei('0.0000000001')"), "10 digits after the point"},
		{"not literal", when("effect.amount < ether(effect.kind)"), "ether takes a text in quotes"},
		{"kind never", when("effect.kind == 'transfr'"), `never "transfr": did you mean transfer?`},
		{"other kind", when("effect.kind == 'fee'"), "never 'fee' in a rule on transfer"},
		{"never", when("false"), "can never match"},
		{"empty list", when("effect.to in []"), "the list is empty"},
		{"not a condition", when("effect.to"), "expected a condition"},
		{"an asset called", when("effect.amount > usdc('1')"), "usdc is not a function"},
		{"a list called", when("treasury(effect.to)"), "treasury is not a function"},
		{"a function alone", when("effect.amount > ether"), "ether is a function: write ether('1')"},
		{"dyn", when("dyn(effect.to) == 5"), "there is no dyn"},
		{"type", when("type(effect) == effect"), "there is no type"},
		{"conversion", when("string(5) == '5'"), "there is no string"},
		{"matches", when("effect.kind.matches('a')"), "there is no matches"},
		{"map", when("{'a': 1}.size() == 1"), "a"},
		{"arithmetic", when("effects.size() + 1 == 2"), "no matching overload"},
		{"double", when("1.5 == 1.5"), "literals are integers"},
		{"mixed list", when("1 in [1, 'a']"), "type"},
		{"nested loops", when("effects.exists(a, effects.exists(b, effects.exists(c, c.kind == a.kind && b.kind == 'fee')))"), "nest"},
		{"costly", when("effects.exists(a, effects.exists(b, a.kind == b.kind))"), "too costly"},
		{"chain details", when("eth.tx.nonce < 5"), "needs 'on: ethereum'"},
		{"effect of a request", head + "rules:\n  - {name: a, allow: request, when: effect.to in treasury && effect.asset == usdc}\n", "a rule on request has no effect"},
		{"hours", when("time.within('Mo-Fr 8-18 Europe/Berlin')"), "time.within"},
		{"zone", when("time.within('Mo-Fr 08:00-18:00 Europe/Berln')"), "no time zone"},
		{"long", when("'effect.to in treasury" + strings.Repeat(" ", 4096) + "'"), "at most 4096"},
		{"per recipient", head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: to}\nrules:\n  - {name: a, allow: transfer, limit: d}\n", "a thief can use any number of recipients"},
		{"window", head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 1s, per: key}\n", "window"},
		{"max", head + "limits:\n  - {name: d, asset: usdc, max: \"0.0000001\", window: 1h, per: key}\n", "max"},
		{"test fails", head + pays + "tests:\n  - {effects: [{kind: transfer, to: \"" + thief + "\"}], expect: allow}\n", "10:5: the test fails: deny, not allow"},
		{"test by another rule", head + pays + "tests:\n  - {effects: [{kind: transfer, asset: usdc, to: \"" + treasury + "\"}], expect: allow, rule: usd}\n", "allow by pays, not by usd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := policy.Parse("p.yaml", []byte(test.file), options())
			var problems *policy.Error
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v\nwant %s", err, test.want)
			}
		})
	}
}

// TestAssetOnce: an asset that cannot be read is one problem, and not one more for each amount of it.
func TestAssetOnce(t *testing.T) {
	for _, asset := range []string{`{chain: "eip155:1x", token: native}`, `{chain: "eip155:1", token: "0x12"}`} {
		_, err := policy.Parse("p.yaml", []byte("schema: countersign.policy/2\nassets:\n  usd: "+asset+"\n"+
			"limits:\n  - {name: d, asset: usd, max: \"0.5\", window: 1h, per: key}\nrules:\n  - {name: a, allow: transfer, limit: d}\n"), options())
		if err == nil || strings.Contains(err.Error(), "after the point") {
			t.Errorf("%s: %v", asset, err)
		}
	}
}

// TestCaret: a problem is rendered with its line and a caret below the place.
func TestCaret(t *testing.T) {
	_, err := policy.Parse("p.yaml", []byte(head+"rules:\n  - name: a\n    allow: transfer\n    when: >-\n      effect.asset == usdc &&\n      effect.to in tresury\n"), options())
	want := "p.yaml:11:20: rule a: there is no tresury here: did you mean treasury?\n        effect.to in tresury\n                     ^"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

// TestWarnings: a file with likely mistakes loads with warnings.
func TestWarnings(t *testing.T) {
	for rule, want := range map[string]string{
		"allow: request": "whole activities",
		"allow: fee":     "any fee",
		"allow: call, hazards: [blind-call], of: transactions, chains: [eip155:1]": "not understood to any contract",
		"allow: transfer, when: 'effects.exists(e, e.kind == \"fee\")'":            "exists over effects",
		"allow: transfer, when: 'true'":                                            "always true",
		"allow: transfer, approvals: [{count: 1, submitter: counts}]":              "whoever may submit and vote can approve alone",
	} {
		file := load(t, "schema: countersign.policy/2\nrules:\n  - {name: a, "+rule+"}\n")
		warnings := file.Warnings()
		if len(warnings) == 0 || !strings.Contains(warnings[0].Message, want) {
			t.Errorf("%s: %+v, want %s", rule, warnings, want)
		}
	}
	for _, group := range []string{"{count: 2}", "{count: 1, not: submitter}", "{count: 1}", "{count: 1, tag: finance}", "{count: 2, submitter: counts}"} {
		if warnings := load(t, "schema: countersign.policy/2\nrules:\n  - {name: a, allow: transfer, approvals: ["+group+"]}\n").Warnings(); len(warnings) > 0 {
			t.Errorf("%s: %+v", group, warnings)
		}
	}
}
