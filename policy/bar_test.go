package policy_test

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
	"github.com/countersign-dev/countersign/policy"
)

// The forms of one key's hash on Bitcoin, the private key being 1, and an address of another one.
const (
	p2pkh    = "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH"
	p2wpkh   = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
	p2shOfIt = "3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN"
	p2pkHex  = "210279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ac"
	p2trOfIt = "bc1pmfr3p9j00pfxjh0zmgp99y8zftmd3s5pmedqhyptwy6lm87hf5sspknck9"
	another  = "bc1q0xcqpzrky6eff2g52qdye53xkk9jxkvrh6yhyw"
)

// paid decides about a payment to an address, or to a script in hex.
func paid(t *testing.T, text, asset, to, more string) string {
	t.Helper()
	on := map[string]string{"bip122": "bitcoin", "solana": "solana", "tron": "tron", "eip155:1": "ethereum"}[asset]
	if token, ok := strings.CutPrefix(asset, "token "); ok {
		on, _, _ = strings.Cut(token, " ")
	}
	file := text + "tests:\n  - {effects: [{kind: transfer, asset: " + quoted(asset) + ", amount: \"1\", to: " + quoted(to) + more + "}], on: " + on + ", expect: allow}\n"
	_, err := policy.Parse("p.yaml", []byte(file), options())
	if err == nil {
		return "allow"
	}
	if strings.Contains(err.Error(), "rule blocked denies") || strings.Contains(err.Error(), "not covered by any rule") {
		return "deny"
	}
	return err.Error()
}

// TestBarredForms: where a match refuses, an address stands for every form that can be computed;
// in an allow it is itself.
func TestBarredForms(t *testing.T) {
	file := func(list, when string) string {
		allow := "  - {name: any, allow: transfer}\n"
		if strings.HasPrefix(when, "allow ") {
			return "schema: countersign.policy/2\nlists: {blocked: " + list + "}\nrules:\n  - {name: a, allow: transfer, when: \"" + strings.TrimPrefix(when, "allow ") + "\"}\n"
		}
		return "schema: countersign.policy/2\nlists: {blocked: " + list + "}\nrules:\n  - {name: blocked, deny: transfer, when: \"" + when + "\"}\n" + allow
	}
	const (
		in, out         = "effect.to in blocked", "!(effect.to in blocked)"
		wallet, account = "GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu", "25sjQdaXJjWetETNtLZnVBpnecV22K7kR4EAxeAnKGMU"
		mint            = "token solana EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
		evm, tron       = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af", "TKL32CWcrDBEZVwewGZJMj5CpFCXbVBxS6"
	)
	anyChain := "{any_chain: true, addresses: ['" + evm + "']}"
	for _, test := range []struct{ list, when, asset, to, more, want string }{
		{"[" + p2pkh + "]", in, "bip122", p2pkh, "", "deny"},
		{"[" + p2pkh + "]", in, "bip122", p2wpkh, "", "deny"},
		{"[" + p2pkh + "]", in, "bip122", p2shOfIt, "", "deny"},
		{"[" + p2wpkh + "]", in, "bip122", p2pkh, "", "deny"},
		{"[" + p2shOfIt + "]", in, "bip122", p2pkh, "", "deny"},
		{"[" + p2shOfIt + "]", in, "bip122", p2wpkh, "", "deny"},
		{"[" + p2pkh + "]", in, "bip122", another, "", "allow"},
		{"[" + p2pkh + "]", in, "bip122", p2trOfIt, "", "allow"},
		{"[" + p2pkh + "]", "effect.asset.native && (effect.bound == 'most' || " + in + ")", "bip122", p2wpkh, "", "deny"},
		{"[" + p2pkh + "]", "effects.exists(effect, " + in + ")", "bip122", p2wpkh, "", "deny"},
		{"[" + p2pkh + "]", "!(effect.bound == 'most' || " + out + ")", "bip122", p2wpkh, "", "deny"},
		{"[" + p2pkh + "]", "allow " + in, "bip122", p2pkh, "", "allow"},
		{"[" + p2pkh + "]", "allow " + in, "bip122", p2wpkh, "", "deny"},
		{"[" + p2pkh + "]", "allow " + out, "bip122", p2wpkh, "", "deny"},
		{"[" + p2pkh + "]", "allow " + out, "bip122", another, "", "allow"},
		{"[" + p2pkh + "]", out, "bip122", p2wpkh, "", "deny"}, // what is not in the list is refused: an address is itself
		{"[" + p2pkh + "]", out, "bip122", p2pkh, "", "allow"},
		{"[" + wallet + "]", in, "solana", account, ", owners: [" + wallet + "]", "deny"},
		{"[" + wallet + "]", in, "solana", account, ", owners: [" + account + "]", "allow"},
		{"[" + wallet + "]", "allow " + in, "solana", account, ", owners: [" + wallet + "]", "deny"},
		{"[" + wallet + "]", in, mint, account, ", owners: [" + account + ", " + wallet + "]", "deny"},
		{anyChain, in, "tron", tron, "", "deny"},
		{anyChain, in, "eip155:1", evm, "", "deny"},
		{"{any_chain: true, addresses: [" + tron + "]}", in, "eip155:1", evm, "", "deny"},
		{anyChain, in, "tron", "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn", "", "allow"},
		{"['" + evm + "']", in, "tron", tron, "", "allow"},
	} {
		if got := paid(t, file(test.list, test.when), test.asset, test.to, test.more); got != test.want {
			t.Errorf("%s in %s, %s%s: %s, want %s", test.when, test.list, test.to, test.more, got, test.want)
		}
		if !strings.HasPrefix(test.list, "[") {
			continue
		}
		// The same list, written out in the condition.
		when := strings.ReplaceAll(test.when, "blocked", "[address('"+strings.Trim(test.list, "[']")+"')]")
		text := strings.Replace(file(test.list, when), "lists: {blocked: "+test.list+"}\n", "", 1)
		if got := paid(t, text, test.asset, test.to, test.more); got != test.want {
			t.Errorf("%s, %s%s: %s, want %s", when, test.to, test.more, got, test.want)
		}
	}
}

// TestBarredWays: however a deny says that an address is refused, its other forms are too; or the
// file warns that they are not.
func TestBarredWays(t *testing.T) {
	const evm, tron = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af", "TKL32CWcrDBEZVwewGZJMj5CpFCXbVBxS6"
	literal := "address('" + p2pkh + "')"
	for _, when := range []string{
		"effect.to in blocked", "blocked.exists(b, b == effect.to)", "blocked.exists(b, effect.to == b)", "(effect.to in blocked) == true", "true == (effect.to in blocked)",
		"(effect.to in blocked) != false", "(!(effect.to in blocked)) == false", "!(effect.to in blocked) != true", "!blocked.all(b, b != effect.to)", "!(blocked[0] != effect.to)",
		"effect.to == blocked[0]", "blocked[0] == effect.to", "[effect.to].exists(a, a in blocked)", "[effect.to].exists(a, blocked.exists(b, a == b))",
		"effects.exists(e, e.to in blocked)", "effects.exists(e, has(e.to) && e.to == blocked[0])", "!effects.all(e, e.to != blocked[0])", "!effects.all(e, !(e.to in blocked))",
		"effect.asset.native ? effect.to in blocked : false", "effect.asset.native ? blocked.exists(b, b == effect.to) : false", "effect.bound == 'most' || effect.to == blocked[0]",
		"(effect.to in blocked ? 1 : 0) == 1", "effect.to in blocked ? true : false", "blocked.filter(b, b == effect.to).size() > 0", "effects.filter(e, e.to in blocked).size() != 0",
		"effects.filter(e, e.to in blocked).exists(e, true)", "effect.to in [blocked[0]]", "blocked[0] in [effect.to]", "(effect.to in blocked) == effect.asset.native", "size(blocked.filter(b, effect.to in [b])) == 1",
		"effect.to == " + literal, literal + " == effect.to", "effect.to in [" + literal + "]", "!(effect.to != " + literal + ")", "(effect.to == " + literal + ") == true",
		"[" + literal + "].exists(b, b == effect.to)", "effects.filter(e, e.to == " + literal + ").size() > 0",
	} {
		head, native := "schema: countersign.policy/2\nlists: {blocked: ["+p2pkh+"]}\n", "bip122"
		if !strings.Contains(when, "blocked") {
			head = "schema: countersign.policy/2\n"
		}
		rules := "rules:\n  - {name: blocked, deny: transfer, when: \"" + when + "\"}\n  - {name: any, allow: transfer}\n"
		parsed, err := policy.Parse("p.yaml", []byte(head+rules), options())
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		warned := false
		for _, warning := range parsed.Warnings() {
			warned = warned || strings.Contains(warning.Message, "other forms of it evade")
		}
		if got := paid(t, head+rules, native, p2pkh, ""); got != "deny" {
			t.Errorf("%s, as listed: %s", when, got)
		}
		if got := paid(t, head+rules, native, another, ""); got != "allow" {
			t.Errorf("%s, another: %s", when, got)
		}
		for _, form := range []string{p2wpkh, p2shOfIt} {
			if got := paid(t, head+rules, native, form, ""); (got == "deny") == warned {
				t.Errorf("%s, %s: %s, warned: %t", when, form, got, warned)
			}
		}
		if strings.Contains(when, "blocked") && !warned {
			onEach := strings.Replace(head, "["+p2pkh+"]", "{any_chain: true, addresses: ['"+evm+"']}", 1)
			if got := paid(t, onEach+rules, "tron", tron, ""); got != "deny" {
				t.Errorf("%s, on Tron: %s", when, got)
			}
		}
	}
	// An allow takes an address for itself, and refuses all forms where a match refuses.
	for when, want := range map[string]string{"effect.to == " + literal: "deny", "effect.to != " + literal: "deny", "!(effect.to == " + literal + ")": "deny", "(effect.to == " + literal + ") == false": "deny",
		"effect.to != address('" + another + "')": "allow", "(effect.to == " + literal + ") == true": "deny"} {
		text := "schema: countersign.policy/2\nrules:\n  - {name: a, allow: transfer, when: \"" + when + "\"}\n"
		if got := paid(t, text, "bip122", p2wpkh, ""); got != want {
			t.Errorf("allow when %s: %s, want %s", when, got, want)
		}
	}
}

// TestBarredKey: a P2PK output has the hash of its key.
func TestBarredKey(t *testing.T) {
	text := "schema: countersign.policy/2\nlists: {blocked: [" + p2pkh + "]}\nrules:\n  - {name: blocked, deny: transfer, when: effect.to in blocked}\n  - {name: any, allow: transfer}\n"
	raw := testenv.Hex(t, p2pkHex)
	script := chains.PartyAt(raw, &chains.Notation{Text: func([]byte) string { return "script" }})
	asked := ask(chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: script, Asset: chains.Native("bip122"), Amount: chains.ExactlyUint(1)})
	about(&asked, "bitcoin")
	if got, _ := decide(t, text, asked); !strings.Contains(got, "rule blocked denies") {
		t.Error(got)
	}
}

// TestReached: a deny judges what others take of what our signature put there, allows and limits
// do not.
func TestReached(t *testing.T) {
	const text = head + "rules:\n  - {name: no, deny: transfer, when: 'effect.to in treasury'}\n  - {name: usd, allow: transfer, when: effect.asset == usdc}\n"
	ours, theirs := tokens(t, thief, chains.ExactlyUint(5)), ether(t, treasury, 5)
	theirs.By = chains.ByOther
	if got, _ := decide(t, text, ask(ours, theirs)); got != "allowed by usd" {
		t.Error(got)
	}
	theirs.Reached = true
	if got, _ := decide(t, text, ask(ours, theirs)); !strings.Contains(got, "rule no denies effect 1") {
		t.Error(got)
	}
}

// TestSharedLists: a list of which no address is of a chain that a rule allows does not load.
func TestSharedLists(t *testing.T) {
	const rules = "assets: {usdt: {chain: tron, token: TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf, decimals: 6}}\nrules:\n  - {name: no, deny: transfer, when: effect.to in blocked}\n" +
		"  - {name: a, allow: transfer, when: \"effect.asset == usdt\"}\n  - {name: f, allow: fee, when: \"effect.amount <= trx('30') && effect.asset.native\"}\n"
	const evm = "'0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af'"
	for list, loads := range map[string]bool{
		"[" + evm + "]": false, "{addresses: [" + evm + "]}": false, "{shared: true, addresses: [" + evm + "]}": true,
		"{any_chain: true, addresses: [" + evm + "]}": true, "[TKL32CWcrDBEZVwewGZJMj5CpFCXbVBxS6]": true,
		"[" + evm + ", TKL32CWcrDBEZVwewGZJMj5CpFCXbVBxS6]": true, "{shared: false, addresses: [" + evm + "]}": false,
		"{any_chain: true, addresses: [" + p2pkh + "]}": false,
	} {
		_, err := policy.Parse("p.yaml", []byte("schema: countersign.policy/2\nlists: {blocked: "+list+"}\n"+rules), options())
		if (err == nil) != loads || err != nil && !strings.Contains(err.Error(), "is of a chain that a rule allows (tron)") {
			t.Errorf("%s: %v", list, err)
		}
	}
	undecided := strings.Replace(rules, "effect.asset == usdt", "effect.asset == usdt || effect.asset.native", 1)
	if _, err := policy.Parse("p.yaml", []byte("schema: countersign.policy/2\nlists: {blocked: ["+evm+"]}\n"+undecided), options()); err != nil {
		t.Errorf("it is not known what is allowed: %v", err)
	}
	file := load(t, "schema: countersign.policy/2\nlists: {payees: ["+evm+"]}\nrules:\n  - {name: a, allow: transfer, on: [tron], when: effect.to in payees}\n  - {name: b, allow: transfer, on: ethereum, when: effect.to in payees}\n")
	if warnings := file.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0].Message, "it matches nothing here") {
		t.Errorf("%+v", warnings)
	}
}

// TestVirtual: a virtual address of Tempo (TIP-1022) names no account, in a transaction and in a
// message; on other networks it is an address like any other.
func TestVirtual(t *testing.T) {
	const virtual = "0x08d2b0a3FDfDfDfDfDfDfDFdFDfd000000000001"
	text := head + "rules:\n  - {name: uses, deny: fee, when: 'effect.asset == usdc && effect.to in treasury'}\n  - {name: known, allow: transfer, when: 'has(effect.to)'}\n"
	to := party(t, strings.ToLower(virtual))
	for _, test := range []struct {
		chain, network string
		intent         activity.Intent
		want           string
	}{
		{"tempo", "eip155:4217", activity.SignTransactionIntent{}, "is not covered"},
		{"tempo", "eip155:42431", activity.SignTransactionIntent{}, "is not covered"},
		{"ethereum", "eip155:4217", activity.SignRawPayloadIntent{}, "is not covered"},
		{"ethereum", "eip155:1", activity.SignTransactionIntent{}, "allowed by known"},
	} {
		asked := ask(chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: to, Asset: chains.Token(test.network, party(t, usdc), "erc20"), Amount: chains.ExactlyUint(1)})
		asked.Intent = test.intent
		about(&asked, test.chain)
		if got, _ := decide(t, text, asked); !strings.Contains(got, test.want) {
			t.Errorf("%s, %s: %s", test.chain, test.network, got)
		}
	}
}

// TestBarredTokenAccount: a listed token account stands for the wallet that it is derived from, in
// effects of its mint, and a listed wallet for its accounts under both token programs.
func TestBarredTokenAccount(t *testing.T) {
	const wallet, mint = "GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	read := func(text string) string { return string(base58.Decode(text)) }
	for _, account := range tokenaccount.Of(read(wallet), read(mint)) {
		listed := base58.Encode([]byte(account))
		for _, test := range [][2]string{{listed, wallet}, {wallet, listed}} {
			text := "schema: countersign.policy/2\nlists: {blocked: [" + test[0] + "]}\nrules:\n  - {name: blocked, deny: transfer, when: effect.to in blocked}\n  - {name: any, allow: transfer}\n"
			if got := paid(t, text, "token solana "+mint, test[1], ""); got != "deny" {
				t.Errorf("%s is listed, %s is paid: %s", test[0], test[1], got)
			}
		}
	}
}
