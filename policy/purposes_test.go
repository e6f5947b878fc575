package policy_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/policy"
)

// purposeRules pay the treasury and fees, with a limit on each, and let a fee be alone under one
// condition.
const purposeRules = `schema: countersign.policy/2
lists:
  treasury: ["` + treasury + `"]
assets:
  main: {chain: "eip155:1", token: native}
limits:
  - {name: day, asset: main, max: "0.000000000000000010", window: 24h, per: account}
rules:
  - {name: pays, allow: transfer, when: effect.to in treasury && effect.asset == main, limit: day}
  - {name: claims, allow: fee, alone: true, key: [claimer], when: effect.asset == main, limit: day}
  - {name: gas, allow: fee, when: effect.asset == main, limit: day}
  - {name: others, allow: call, others: true, when: "effect.by == 'other'"}
`

// TestPurposes: a fee, change, what is received and what others authorize are no purpose. Without
// one, change is a payment that counts in full, and a fee needs a rule with alone.
func TestPurposes(t *testing.T) {
	of := func(effect chains.Effect, change func(*chains.Effect)) chains.Effect {
		effect.From = party(t, thief)
		change(&effect)
		return effect
	}
	pay := of(ether(t, treasury, 1), func(*chains.Effect) {})
	nothing := of(ether(t, treasury, 0), func(*chains.Effect) {})
	fee := of(ether(t, thief, 4), func(e *chains.Effect) { e.Kind, e.To = chains.KindFee, chains.Party{} })
	change := of(ether(t, treasury, 7), func(e *chains.Effect) { e.Change = true })
	elsewhere := of(ether(t, thief, 7), func(e *chains.Effect) { e.Change = true })
	received := of(ether(t, thief, 9), func(e *chains.Effect) { e.Kind = chains.KindReceive })
	others := of(ether(t, thief, 9), func(e *chains.Effect) { e.By = chains.ByOther })
	called := chains.Effect{Kind: chains.KindCall, By: chains.ByOther, To: party(t, thief)}
	standing := of(elsewhere, func(e *chains.Effect) { e.By, e.Change = chains.ByStanding, false })
	at := func(payload string, effect chains.Effect) chains.Effect {
		effect.Path = payload + "/x"
		return effect
	}
	for name, test := range map[string]struct {
		key     string
		effects []chains.Effect
		want    string
		charged int64
	}{
		"a payment":                       {"hot", []chains.Effect{pay, fee}, "allowed by pays,gas", 5},
		"a payment of nothing":            {"hot", []chains.Effect{nothing, fee}, "allowed by pays,gas", 4},
		"change beside a payment":         {"hot", []chains.Effect{pay, elsewhere, fee}, "allowed by pays,gas", 5},
		"a fee":                           {"hot", []chains.Effect{fee}, "needs a rule with alone: true", 0},
		"a fee, what is received":         {"hot", []chains.Effect{fee, received}, "needs a rule with alone: true", 0},
		"a fee for others":                {"hot", []chains.Effect{others, fee}, "needs a rule with alone: true", 0},
		"a fee for others, who have one":  {"hot", []chains.Effect{called, fee}, "needs a rule with alone: true", 0},
		"a fee alone":                     {"claimer", []chains.Effect{fee}, "allowed by claims", 4},
		"a fee of who may be alone":       {"claimer", []chains.Effect{pay, fee}, "allowed by pays,claims", 5},
		"nothing but change":              {"hot", []chains.Effect{change, fee}, "limit day of rule gas", 0}, // 7 and 4 of 10
		"nothing but change, without fee": {"hot", []chains.Effect{change}, "allowed by pays", 7},
		"change elsewhere":                {"claimer", []chains.Effect{elsewhere, fee}, "effect 0 (transfer to " + thief + ") is not covered", 0},
		"change, and what is received":    {"hot", []chains.Effect{elsewhere, received}, "is not covered", 0},
		"change, and others":              {"hot", []chains.Effect{elsewhere, others}, "is not covered", 0},
		"a stranger's own":                {"claimer", []chains.Effect{standing, fee}, "is not covered", 0},
		"two payloads":                    {"hot", []chains.Effect{at("payload 0", pay), at("payload 1", elsewhere)}, "effect 1 (transfer to " + thief + ") is not covered", 0},
		"two payloads, a fee in one":      {"hot", []chains.Effect{at("payload 0", pay), at("payload 1", fee)}, "needs a rule with alone: true", 0},
		"two payloads with purposes":      {"hot", []chains.Effect{at("payload 0", pay), at("payload 0", elsewhere), at("payload 1", pay)}, "allowed by pays", 2},
	} {
		asked := ask(test.effects...)
		asked.Keys[0].ID, asked.Keys[0].Name = test.key, test.key
		got, decision := decide(t, purposeRules, asked)
		var charged int64
		for _, charge := range decision.Charges {
			charged += charge.Amount.Int64()
		}
		if !strings.Contains(got, test.want) || strings.HasPrefix(got, "allowed") && (got != test.want || charged != test.charged) {
			t.Errorf("%s: %s, %d charged, want %s, %d", name, got, charged, test.want, test.charged)
		}
		explained, err := load(t, purposeRules).Explain(t.Context(), asked)
		if err != nil || (explained.Decision == "allow") != strings.HasPrefix(got, "allowed") {
			t.Errorf("%s: explained as %+v, %v", name, explained, err)
		}
	}
}

// TestAccount: a limit per account counts by the account that pays, whichever key signs for it,
// and covers nothing that is by an earlier permission.
func TestAccount(t *testing.T) {
	pay := ether(t, treasury, 1)
	pay.From = party(t, thief)
	for _, key := range []string{"root", "access"} {
		asked := ask(pay)
		asked.Keys[0].ID = key
		if _, decision := decide(t, purposeRules, asked); len(decision.Charges) != 1 || decision.Charges[0].Subject != strings.ToLower(thief) {
			t.Errorf("%s: %+v", key, decision.Charges)
		}
	}
	pay.By = chains.ByStanding
	if got, _ := decide(t, purposeRules, ask(pay)); !strings.Contains(got, "it has no single account") {
		t.Error(got)
	}
	_, err := policy.Parse("p.yaml", []byte(strings.ReplaceAll(strings.ReplaceAll(purposeRules, "eip155:1", "solana"), "0.000000000000000010", "0.1")), options())
	if err == nil || !strings.Contains(err.Error(), "use per: key") {
		t.Errorf("accounts of Solana: %v", err)
	}
}

// TestPrices: what is received pays for one effect of a payload, or for what one rule decides
// together. Other allows do not see it.
func TestPrices(t *testing.T) {
	const price = "effects.exists(e, e.kind == 'receive' && e.amount >= wei('5'))"
	rules := func(lines ...string) string {
		return head + "rules:\n  - {name: uses, deny: mint, when: 'effect.asset == usdc && effect.to in treasury'}\n  - " + strings.Join(lines, "\n  - ") + "\n"
	}
	each := "{name: one, allow: [transfer, approve], each: 1, when: \"" + price + "\"}"
	bundle := "{name: all, allow: [transfer, approve], bundle: true, when: \"" + price + "\"}"
	gifts := "{name: gifts, allow: transfer, when: 'effect.amount == wei(\"1\")'}"
	unseen := "{name: unseen, allow: transfer, when: \"effects.exists(e, e.amount >= wei('5') && e.kind != 'transfer')\"}"
	nft := func(number int64) chains.Effect { e := ether(t, thief, number); e.From = party(t, treasury); return e }
	approve := nft(2)
	approve.Kind = chains.KindApprove
	back := chains.Effect{Kind: chains.KindReceive, By: chains.ByOther, To: party(t, treasury), Asset: chains.Native("eip155:1"), Amount: chains.ExactlyUint(50)}
	at := func(payload string, effects ...chains.Effect) []chains.Effect {
		for i := range effects {
			effects[i].Path = payload + "/x"
		}
		return effects
	}
	for name, test := range map[string]struct {
		rules   string
		effects []chains.Effect
		want    string
	}{
		"one":                   {rules(each), []chains.Effect{nft(3), back}, "allowed by one"},
		"two for one":           {rules(each), []chains.Effect{nft(3), nft(2), back}, "what is received is the price of another effect: each: 1"},
		"two kinds":             {rules(each), []chains.Effect{nft(3), approve, back}, "each: 1"},
		"one and a gift":        {rules(gifts, each), []chains.Effect{nft(1), nft(3), back}, "allowed by gifts,one"},
		"a bundle":              {rules(bundle), []chains.Effect{nft(3), nft(2), back}, "allowed by all"},
		"a bundle beside each":  {rules(strings.Replace(each, "[transfer, approve]", "approve", 1), strings.Replace(bundle, "[transfer, approve]", "transfer", 1)), []chains.Effect{nft(3), approve, back}, "what is received is the price of what rule all allows"},
		"each beside a bundle":  {rules(strings.Replace(each, "[transfer, approve]", "approve", 1), bundle), []chains.Effect{approve, nft(3), back}, "what is received is the price of what rule one allows"},
		"each of two payloads":  {rules(each), append(at("payload 0", nft(3), back), at("payload 1", nft(3), back)...), "allowed by one"},
		"two in one of them":    {rules(each), append(at("payload 0", nft(3), nft(2), back), at("payload 1", nft(3), back)...), "each: 1"},
		"not asked for, unseen": {rules(unseen), []chains.Effect{nft(3), back}, "is not covered"},
	} {
		if got, _ := decide(t, test.rules, ask(test.effects...)); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestNewMembers: what the members of this schema require, and what a rule without them is told.
func TestNewMembers(t *testing.T) {
	const limit, receive = "limits: [{name: day, asset: main, max: \"1\", window: 24h, per: key}]\n", "effects.exists(e, e.kind == 'receive')"
	for rule, want := range map[string]string{
		"allow: fee, alone: true, when: effect.asset == main":                                                  "add a limit, such as 'limit: gas-day'",
		"allow: transfer, alone: true, limit: day":                                                             "alone: true is of rules on fee",
		"deny: fee, alone: true":                                                                               "a deny has no each, bundle or alone",
		"allow: transfer, when: \"" + receive + "\"":                                                           "add 'each: 1'",
		"allow: transfer, when: \"effects.filter(e, e.kind in ['receive']).size() > 0\"":                       "'bundle: true'",
		"allow: transfer, each: 1, bundle: true, when: \"" + receive + "\"":                                    "exclude each other",
		"allow: transfer, each: 1":                                                                             "are of rules that ask for what is received",
		"allow: transfer, each: 2, when: \"" + receive + "\"":                                                  "each",
		"allow: call, hazards: [ethereum/blind-call], chains: [eip155:1]":                                      "add 'of: transactions' or 'of: messages'",
		"allow: call, hazards: [ethereum/blind-call], of: transactions":                                        "add the networks, such as 'chains: [eip155:1]'",
		"allow: call, hazards: [blind-call], of: messages":                                                     "blind-call is another danger on each network",
		"allow: call, hazards: [blind-call], of: transaction, chains: [eip155:1]":                              "did you mean transactions?",
		"allow: call, on: tron, chains: [eip155:1]":                                                            "no network of tron",
		"allow: call, chains: [mainnet]":                                                                       "chain \"mainnet\"",
		"allow: call, on: [solana, bitcoin, tron], hazards: [blind-call], of: transactions":                    "",
		"allow: call, hazards: [solana/blind-call, tron/blind-call], of: transactions":                         "",
		"allow: transfer, hazards: [ethereum/no-chain-id], of: transactions":                                   "",
		"allow: message, hazards: [message/hash-like], of: messages":                                           "",
		"allow: transfer, approvals: [{count: 1, not: submitter, submitter: counts}]":                          "exclude each other",
		"allow: transfer, approvals: [{count: 1, submitter: yes}]":                                             "submitter: only counts is supported",
		"allow: message, when: \"effect.domain == 'app.example.com'\"":                                         "",
		"allow: transfer, when: \"has(effect.owners) && effect.owners.all(o, o == address('" + thief + "'))\"": "",
	} {
		text := "schema: countersign.policy/2\nassets: {main: {chain: \"eip155:1\", token: native}}\n" + limit + "rules:\n  - {name: uses, allow: stake, when: effect.asset == main, limit: day}\n  - {name: a, " + rule + "}\n"
		_, err := policy.Parse("p.yaml", []byte(text), options())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rule, err, want)
		}
	}
	_, err := policy.Parse("p.yaml", []byte("schema: countersign.policy/1\nrules: [{name: a, deny: request}]\n"), options())
	if err == nil || !strings.Contains(err.Error(), "policy check --upgrade") {
		t.Errorf("an earlier schema: %v", err)
	}
	for rule, want := range map[string]string{
		"allow: message": "bound whom they are for", "allow: message, when: \"effect.domain == 'a.b'\"": "",
		"allow: message, when: \"effect.arg('domain.name') == 'snapshot'\"": "", "allow: message, when: \"effect.by == 'signer'\"": "bound whom",
	} {
		warnings := load(t, "schema: countersign.policy/2\nrules:\n  - {name: a, "+rule+"}\n").Warnings()
		if (len(warnings) == 0) != (want == "") || want != "" && !strings.Contains(warnings[0].Message, want) {
			t.Errorf("%s: %+v", rule, warnings)
		}
	}
}

// TestOfAndChains: of and chains decide what a rule is asked about, an allow and a deny alike. Where
// the bytes name no network, an allow of some networks is not asked, and a deny of the chain's is: who
// leaves the network out has no more allowed. A transaction is one, also if it is sent as a message.
func TestOfAndChains(t *testing.T) {
	integer := func(id uint64) []chains.Field { return []chains.Field{chains.Integer("chain", id).As("chain_id")} }
	domain := func(fields ...chains.Field) []chains.Field { return []chains.Field{chains.List("domain", fields...)} }
	send, sign := activity.SignTransactionIntent{}, activity.SignRawPayloadIntent{}
	for _, test := range []struct {
		members string
		chain   string
		fields  []chains.Field
		intent  activity.Intent
		applies string // to an allow and a deny, to neither, or to a deny alone
	}{
		{"of: transactions", "sent solana", nil, sign, "both"},
		{"of: messages", "sent solana", nil, sign, "neither"},
		{"chains: [solana]", "sent solana", nil, sign, "both"},
		{"chains: [eip155:1]", "solana", nil, sign, "neither"},
		{"of: transactions", "ethereum", integer(1), send, "both"},
		{"of: transactions", "ethereum", integer(1), sign, "neither"},
		{"of: messages", "ethereum", integer(1), send, "neither"},
		{"of: messages", "ethereum", domain(), sign, "both"},
		{"of: messages", "ethereum", nil, nil, "neither"},
		{"chains: [eip155:1, eip155:10]", "ethereum", integer(10), send, "both"},
		{"chains: [eip155:1]", "ethereum", integer(10), send, "neither"},
		{"chains: [eip155:1]", "ethereum", []chains.Field{chains.Text("chain", "ANY").As("chain_id")}, send, "deny"},
		{"chains: [eip155:1]", "ethereum", domain(chains.Integer("chainId", uint64(1))), sign, "both"},
		{"chains: [eip155:1]", "ethereum", domain(chains.Integer("chainId", uint64(10))), sign, "neither"},
		{"chains: [eip155:1]", "ethereum", domain(chains.Text("name", "x")), sign, "deny"},
		{"chains: [eip155:1]", "ethereum", nil, sign, "deny"},
		{"chains: ['eip155:4217']", "tempo", integer(4217), send, "both"},
		{"chains: [solana]", "solana", nil, send, "both"},
		{"chains: [tron]", "tron", nil, send, "both"},
		{"chains: [bip122]", "bitcoin", nil, send, "both"},
	} {
		for _, verb := range []string{"allow", "deny"} {
			text := "schema: countersign.policy/2\nrules:\n  - {name: a, " + verb + ": settings, " + test.members + "}\n"
			if verb == "deny" {
				text += "  - {name: all, allow: settings}\n"
			}
			asked := ask(chains.Effect{Kind: chains.KindSettings, By: chains.BySigner})
			chain, sent := strings.CutPrefix(test.chain, "sent ")
			asked.Intent = test.intent
			about(&asked, chain, test.fields...)
			summary := asked.Summary
			asked.Summary = func() *chains.Summary { said := summary(); said.Sent = sent; return said }
			applies := test.applies == "both" || test.applies == verb
			if got, _ := decide(t, text, asked); strings.HasPrefix(got, "allowed") != (applies == (verb == "allow")) {
				t.Errorf("%s %s on %s %+v: %s", verb, test.members, test.chain, test.fields, got)
			}
		}
	}
}

// TestUpgrade: an earlier file is printed with a comment above each line that has to change, and
// loads once they are followed.
func TestUpgrade(t *testing.T) {
	const before = "schema: countersign.policy/1\nlists:\n  venue: [\"" + thief + "\"]\nrules:\n" +
		"  - name: trades\n    allow: call\n    when: effect.to in venue\n    hazards: [blind-call]\n" +
		"  - {name: pays, allow: transfer, approvals: [{count: 2, tag: finance}, {count: 1, tag: risk, not: submitter}]}\n" +
		"  - {name: sells, allow: transfer, when: \"effects.exists(e, e.kind == 'receive')\"}\n"
	got := policy.Upgrade("p.yaml", []byte(before), options())
	for _, want := range []string{
		"schema: countersign.policy/2\n", "alone: true and a limit",
		"  # change: a rule with hazards says what it is of: add 'of: transactions' or 'of: messages'\n", "  # change: blind-call is another danger",
		"  # change: the submission is no vote here unless the group says submitter: counts\n  - {name: pays",
		"add 'each: 1' if it is the price of one effect",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	done := strings.NewReplacer("    hazards: [blind-call]\n", "    of: transactions\n    chains: [eip155:1]\n    hazards: [blind-call]\n", "when: \"effects.exists", "each: 1, when: \"effects.exists").Replace(got)
	load(t, done)
	if again := policy.Upgrade("p.yaml", []byte("schema: countersign.policy/1\nrules: [{name: a, deny: request}]\n"), options()); strings.Contains(again, "# change:") {
		t.Errorf("nothing has to change:\n%s", again)
	}
}
