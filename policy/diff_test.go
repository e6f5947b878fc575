package policy_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// defined returns a file with rules and what they name, unless the rules begin with that.
func defined(rules string) string {
	if strings.HasPrefix(rules, "schema") {
		return rules
	}
	definitions, rest, own := strings.Cut(rules, "rules:\n")
	if !own {
		definitions, rest = "", rules
	}
	out := "schema: countersign.policy/2\n"
	section := func(name string, entries ...string) {
		text := ""
		for _, entry := range entries {
			named := strings.FieldsFunc(entry, func(r rune) bool { return strings.ContainsRune(" {:,-", r) })
			word := named[0]
			if word == "name" {
				word = named[1]
			}
			if strings.Contains(rest+out, word) && !strings.Contains(definitions, word+":") && !strings.Contains(definitions, "name: "+word) {
				text += "  " + entry + "\n"
			}
		}
		if strings.Contains(definitions, name) {
			_, after, _ := strings.Cut(definitions, name+":\n")
			for line := range strings.Lines(after) {
				if !strings.HasPrefix(line, "  ") {
					break
				}
				text += line
			}
		}
		if text != "" {
			out += name + ":\n" + text
		}
	}
	section("limits", `- {name: one, asset: usdc, max: "100", window: 24h, per: organization}`,
		`- {name: two, asset: usdc, max: "100", window: 24h, per: organization}`)
	section("lists", `first: {shared: true, addresses: ["`+treasury+`", "`+thief+`"]}`, `second: {shared: true, addresses: ["`+thief+`"]}`)
	section("assets", `usdc: {chain: "eip155:1", token: "`+usdc+`", decimals: 0}`, `main: {chain: "eip155:1", token: native}`)
	return out + "rules:\n" + rest
}

const (
	pay  = "  - {name: pay, allow: transfer, when: effect.to in first}\n"
	vote = "  - {name: vote, allow: transfer, when: effect.to in first, approvals: [{count: 2, tag: a}]}\n"
	bar  = "  - {name: bar, deny: transfer, when: effect.to in second}\n"
	any_ = "  - {name: any, allow: transfer}\n"
)

func rule(members string) string { return "  - {name: pay, allow: transfer, " + members + "}\n" }

func deny(members string) string { return "  - {name: bar, deny: transfer, " + members + "}\n" + any_ }

func lists(addresses ...string) string {
	return "lists:\n  first: {shared: true, addresses: [\"" + strings.Join(addresses, "\", \"") + "\"]}\nrules:\n"
}

func everywhere(member string) string {
	return "lists:\n  second: {shared: true, addresses: [\"" + thief + "\"]" + member + "}\nrules:\n"
}

func limit(members string) string {
	return "limits:\n  - {name: one, asset: usdc, " + members + "}\nrules:\n"
}

func pricedRule(price, amount string) string {
	return rule("when: \"effects.exists(e, e.kind == 'receive' && e.amount >= units('" + amount + "'))\", " + price)
}

const (
	nextTwo = "  - {name: next, allow: transfer, approvals: [{count: 1, tag: a}]}\n  - {name: both, allow: transfer, approvals: [{count: 2, tag: b}]}\n"
	first   = "  - {name: first, deny: transfer, when: effect.to in first}\n"
	either  = "  - {name: pay, allow: transfer, when: \"effect.to in first ? !effect.decoded : effect.to in second\"}\n"
	uses    = "  - {name: use, allow: approve, when: effect.asset == usdc}\n"
	perKey  = "limits:\n  - {name: one, asset: usdc, max: \"100\", window: 24h, per: key}\nrules:\n"
	burns   = "  - {name: small, allow: burn, limit: one, approvals: [{count: 1, tag: b}]}\n  - {name: large, allow: burn, approvals: [{count: 1, tag: a}]}\n"
)

// changes are pairs of files; of each, the later compared with the earlier gives the first verdict, and
// the earlier compared with the later the second.
var changes = []struct{ name, before, after, forth, back string }{
	// Each member of an allow with nothing after it.
	{"gone", pay + vote, vote, "tightens", "widens"},
	{"kind", "  - {name: pay, allow: [transfer, approve]}\n", "  - {name: pay, allow: transfer}\n", "tightens", "widens"},
	{"on", "  - {name: pay, allow: transfer}\n", rule("on: ethereum"), "tightens", "widens"},
	{"who", pay, rule("when: effect.to in first, who: {tag: a}"), "tightens", "widens"},
	{"user", rule("who: {user: [ann, bob]}"), rule("who: {user: ann}"), "tightens", "widens"},
	{"key", rule("key: [hot, cold]"), rule("key: hot"), "tightens", "widens"},
	{"bound", rule("when: \"effect.amount <= units('50')\""), rule("when: \"effect.amount <= units('40')\""), "tightens", "widens"},
	{"strict bound", rule("when: \"effect.amount > units('50')\""), rule("when: \"effect.amount > units('60')\""), "tightens", "widens"},
	{"conjunct", rule("when: effect.to in first"), rule("when: effect.asset == usdc && effect.to in first"), "tightens", "widens"},
	{"list", "lists:\n  first: [\"" + treasury + "\", \"" + thief + "\"]\nrules:\n" + pay, "lists:\n  first: [\"" + treasury + "\"]\nrules:\n" + pay, "tightens", "widens"},
	{"limit", any_, "  - {name: any, allow: transfer, limit: one}\n", "tightens", "widens"},
	{"max", rule("limit: one"), "limits:\n  - {name: one, asset: usdc, max: \"90\", window: 24h, per: organization}\nrules:\n" + rule("limit: one"), "tightens", "widens"},
	{"hazard", rule("of: transactions, chains: [eip155:1], hazards: ethereum/no-chain-id"), rule("of: transactions, chains: [eip155:1]"), "tightens", "cannot say"},
	{"approvals", pay, vote, "cannot say", "widens"},
	{"approval", rule("approvals: [{count: 1, tag: a}]"), rule("approvals: [{count: 2, tag: a}]"), "tightens", "widens"},
	{"passkey", rule("approvals: [{count: 1}]"), rule("approvals: [{count: 1, with: passkey}]"), "tightens", "widens"},
	{"within", rule("approvals: [{count: 1}], within: 2h"), rule("approvals: [{count: 1}], within: 1h"), "tightens", "cannot say"},
	{"of", any_, "  - {name: any, allow: transfer, of: transactions}\n", "tightens", "cannot say"},
	{"chains", rule("chains: [eip155:1, eip155:5]"), rule("chains: [eip155:1]"), "tightens", "cannot say"},

	// Each member of a deny.
	{"a new deny", any_, bar + any_, "tightens", "widens"},
	{"a deny of more kinds", bar + "  - {name: any, allow: [transfer, approve]}\n",
		"  - {name: bar, deny: [transfer, approve], when: effect.to in second}\n  - {name: any, allow: [transfer, approve]}\n", "tightens", "widens"},
	{"a deny of more users", deny("who: {user: ann}"), deny("who: {user: [ann, bob]}"), "tightens", "widens"},
	{"a longer blocklist", "lists:\n  second: [\"" + thief + "\"]\nrules:\n" + bar + any_, "lists:\n  second: [\"" + treasury + "\", \"" + thief + "\"]\nrules:\n" + bar + any_, "tightens", "widens"},
	{"a lower bar", deny("when: \"effect.amount > units('50')\""), deny("when: \"effect.amount > units('40')\""), "tightens", "widens"},
	{"a deny without its last clause", deny("when: effect.to in second && effect.asset == usdc"), deny("when: effect.to in second"), "tightens", "widens"},

	// What means the same.
	{"written otherwise", pay, "  # to whom\n  - name: pay\n    when: (effect.to   in first)\n    allow: [transfer]\n", "no change", "no change"},
	{"another order of users", rule("who: {user: [ann, bob]}"), rule("who: {user: [bob, ann]}"), "no change", "no change"},
	{"another order of votes", rule("approvals: [{count: 2, tag: a}, {count: 1, tag: b}]"), rule("approvals: [{count: 1, tag: b}, {count: 2, tag: a}]"), "no change", "no change"},
	{"another order of apart rules", pay + "  - {name: gas, allow: fee, limit: two}\n", "  - {name: gas, allow: fee, limit: two}\n" + pay, "no change", "no change"},
	{"another order of clauses", rule("when: effect.asset == usdc && effect.to in first"), rule("when: effect.to in first && effect.asset == usdc"), "no change", "no change"},

	// What falls to a later rule.
	{"to one that asks for the votes", rule("when: effect.to in first && effect.asset == usdc") + vote, vote, "tightens", "widens"},
	{"to one without its votes", rule("when: effect.to in first && effect.asset == usdc, approvals: [{count: 2}]") + any_, any_, "widens", "cannot say"},
	{"a bound, to one without its votes", rule("when: \"effect.amount <= units('50')\", approvals: [{count: 1}]") + any_, rule("when: \"effect.amount <= units('40')\", approvals: [{count: 1}]") + any_, "widens", "cannot say"},
	{"a list, to one that allows the rest anyway", rule("when: effect.to in first, limit: one") + any_, rule("when: effect.to in second, limit: one") + any_, "tightens", "cannot say"},
	{"a max, to one that takes all", rule("when: effect.to in first && effect.asset == usdc, limit: one") + vote,
		"limits:\n  - {name: one, asset: usdc, max: \"90\", window: 24h, per: organization}\nrules:\n" + rule("when: effect.to in first && effect.asset == usdc, limit: one") + vote, "tightens", "widens"},
	{"a max, to one that takes a part", rule("limit: one") + vote,
		"limits:\n  - {name: one, asset: usdc, max: \"50\", window: 24h, per: organization}\nrules:\n" + rule("limit: one") + vote, "both", "both"},
	{"a max that another charges too", rule("when: effect.to in first && effect.asset == usdc, limit: one") + vote + "  - {name: burn, allow: burn, limit: one}\n",
		"limits:\n  - {name: one, asset: usdc, max: \"50\", window: 24h, per: organization}\nrules:\n" + rule("when: effect.to in first && effect.asset == usdc, limit: one") + vote + "  - {name: burn, allow: burn, limit: one}\n", "both", "both"},
	{"votes, where another is exceeded first", rule("limit: one, approvals: [{count: 1}]") + any_, rule("limit: one, approvals: [{count: 1}]") + "  - {name: any, allow: transfer, approvals: [{count: 1}]}\n", "both", "both"},
	{"a limit that another charges", pay + burns, "  - {name: pay, allow: transfer, when: effect.to in first, limit: one}\n" + burns, "both", "both"},
	{"votes that pass over the next", rule("limit: one") + nextTwo, rule("limit: one, approvals: [{count: 2}]") + nextTwo, "both", "both"},
	{"a price that shows what is received", rule("when: effects.size() > 2"), rule("when: \"effects.size() > 2 && effects.exists(e, e.kind == 'receive')\", bundle: true"), "cannot say", "cannot say"},
	{"to one of a price", pricedRule("bundle: true", "90") + any_, pricedRule("bundle: true", "100") + any_, "cannot say", "cannot say"},

	// Effects of other signatures need a rule only where one is about them.
	{"others, gone", rule("others: true, when: effect.to in first") + bar, bar + vote, "cannot say", "widens"},
	{"others, for fewer kinds", "  - {name: pay, allow: [transfer, approve], others: true}\n", "  - {name: pay, allow: [transfer], others: true}\n", "cannot say", "widens"},
	{"others, no more", rule("others: true"), any_, "cannot say", "cannot say"},
	{"others", rule("who: {user: ann}"), rule("who: {user: ann}, others: true"), "cannot say", "cannot say"},

	// A deny refuses also by an error, as far as it gets.
	{"a deny without its first clause", deny("when: \"effect.amount <= amount(usdc, '50') && effect.to in second\""), deny("when: effect.to in second"), "cannot say", "widens"},
	{"a deny with its clauses in another order", deny("when: \"effect.amount <= amount(usdc, '50') && effect.to in second\""), deny("when: \"effect.to in second && effect.amount <= amount(usdc, '50')\""), "cannot say", "widens"},
	{"a deny of what is in no list, which is longer", lists(treasury) + deny("when: \"!(effect.to in first)\""), lists(treasury, thief) + deny("when: \"!(effect.to in first)\""), "widens", "cannot say"},
	{"a deny gone for an allow of its name", bar + any_, "  - {name: bar, allow: transfer, when: effect.to in second}\n" + any_, "widens", "tightens"},
	{"a deny of other users", deny("who: {not: {user: ann}}"), deny("who: {not: {user: [ann, bob]}}"), "cannot say", "cannot say"},
	{"a deny on a network", deny("of: transactions"), deny("of: transactions, chains: [eip155:1]"), "widens", "tightens"},

	// Lists and assets of one name.
	{"a list of both, longer", lists(treasury) + pay + first, lists(treasury, thief) + pay + first, "cannot say", "cannot say"},
	{"a list of both, shorter", lists(treasury, thief) + pay + first + any_, lists(treasury) + pay + first + any_, "widens", "cannot say"},
	{"another list", lists(treasury) + pay, lists(thief) + pay, "both", "both"},
	{"an address from one list to the other", "lists:\n  first: {shared: true, addresses: [\"" + treasury + "\", \"" + thief + "\"]}\n  second: {shared: true, addresses: [\"" + usdc + "\"]}\nrules:\n" + either,
		"lists:\n  first: {shared: true, addresses: [\"" + treasury + "\"]}\n  second: {shared: true, addresses: [\"" + thief + "\", \"" + usdc + "\"]}\nrules:\n" + either, "widens", "cannot say"},
	{"an amount of any asset, in a list", uses + rule("when: \"effect.amount in [amount(usdc, '5')]\""), uses + rule("when: \"effect.amount in [units('5')]\""), "cannot say", "cannot say"},
	{"a deny of an amount of any asset, in a list", uses + deny("when: \"effect.amount in [units('5')]\""), uses + deny("when: \"effect.amount in [amount(usdc, '5')]\""), "cannot say", "cannot say"},
	{"an id like a token", "assets:\n  usdc: {chain: \"eip155:1\", id: \"" + usdc + "\", decimals: 0}\nrules:\n" + rule("when: effect.asset == usdc"), rule("when: effect.asset == usdc"), "both", "both"},
	{"a list in capitals", lists(treasury) + pay, lists(strings.ToLower(treasury)) + pay, "no change", "no change"},
	{"an address written out", deny("when: \"effect.to == address('" + thief + "')\""), deny("when: \"effect.to == address('" + treasury + "')\""), "both", "both"},
	{"a blocklist on one chain", everywhere(", any_chain: true") + bar + any_, everywhere("") + bar + any_, "cannot say", "tightens"},
	{"another asset", rule("when: effect.asset == usdc"), "assets:\n  usdc: {chain: \"eip155:1\", token: \"" + thief + "\", decimals: 0}\nrules:\n" + rule("when: effect.asset == usdc"), "both", "both"},
	{"other decimals", rule("when: \"effect.amount <= amount(usdc, '50')\""), "assets:\n  usdc: {chain: \"eip155:1\", token: \"" + usdc + "\", decimals: 2}\nrules:\n" + rule("when: \"effect.amount <= amount(usdc, '40')\""), "widens", "tightens"},
	{"another unit", rule("when: \"effect.amount <= amount(usdc, '50')\""), rule("when: \"effect.amount <= units('40')\""), "both", "both"},
	{"another operator", rule("when: \"effect.amount < units('50')\""), rule("when: \"effect.amount <= units('50')\""), "widens", "cannot say"},
	{"another member", rule("when: effect.to in first"), rule("when: effect.from in first"), "cannot say", "widens"},

	// Limits that count something else.
	{"a limit renamed", rule("limit: one"), rule("limit: two"), "both", "both"},
	{"another window", rule("limit: one"), limit("max: \"90\", window: 48h, per: organization") + rule("limit: one"), "cannot say", "widens"},
	{"a shorter window", rule("limit: one"), limit("max: \"90\", window: 12h, per: organization") + rule("limit: one"), "cannot say", "widens"},
	{"another subject", rule("limit: one"), limit("max: \"90\", window: 24h, per: user") + rule("limit: one"), "cannot say", "widens"},
	{"a limit of bumps", rule("limit: one"), limit("max: \"90\", window: 24h, per: organization, replaces: nonce") + rule("limit: one"), "cannot say", "widens"},
	{"another order of limits", perKey + rule("limit: [two, one], approvals: [{count: 2, tag: a}]") + nextTwo, perKey + rule("limit: [one, two], approvals: [{count: 2, tag: a}]") + nextTwo, "both", "both"},
	{"fewer limits", rule("limit: [one, two]"), rule("limit: one"), "widens", "tightens"},

	// Votes of others.
	{"another tag", rule("approvals: [{count: 1, tag: a}]"), rule("approvals: [{count: 1, tag: b}]"), "both", "both"},
	{"more who can vote", rule("approvals: [{count: 2, users: [ann, bob]}]"), rule("approvals: [{count: 2, users: [ann, bob, cem]}]"), "widens", "tightens"},
	{"a tag and users", rule("approvals: [{count: 2, users: [ann, bob]}]"), rule("approvals: [{count: 2, tag: a, users: [ann, bob]}]"), "widens", "tightens"},
	{"the submission", rule("approvals: [{count: 1}]"), rule("approvals: [{count: 1, submitter: counts}]"), "widens", "tightens"},
	{"two groups for one", rule("approvals: [{count: 2, tag: a}, {count: 1, tag: b}]"), rule("approvals: [{count: 3, tag: a}]"), "both", "both"},
	{"votes for longer", rule("approvals: [{count: 1}], within: 1h"), rule("approvals: [{count: 2}], within: 2h"), "cannot say", "widens"},

	// What a rule pays for, and which comes first.
	{"a price for all", pricedRule("each: 1", "100"), pricedRule("bundle: true", "100"), "cannot say", "tightens"},
	{"a price", any_, pricedRule("bundle: true", "100"), "cannot say", "widens"},
	{"a fee alone", "  - {name: gas, allow: fee, limit: one}\n", "  - {name: gas, allow: fee, limit: one, alone: true}\n", "widens", "tightens"},
	{"another order", vote + pay, pay + vote, "widens", "cannot say"},
	{"a new rule first", vote, pay + vote, "widens", "tightens"},
	{"the whole request", "  - {name: pay, allow: request}\n", "  - {name: pay, allow: [transfer, fee]}\n", "cannot say", "cannot say"},
	{"all hazards of a kind", rule("of: transactions, chains: [eip155:1], hazards: ethereum/blind-call"), rule("of: transactions, chains: [eip155:1], hazards: blind-call"), "cannot say", "tightens"},
	{"messages for transactions", rule("of: transactions"), rule("of: messages"), "cannot say", "widens"},
	{"all networks", rule("chains: [eip155:1]"), any_, "widens", "cannot say"},
	{"a user for a tag", rule("who: {tag: a}"), rule("who: {user: ann}"), "widens", "cannot say"},
}

// TestDifferences compares files both ways. What is proved does not depend on what a search finds.
func TestDifferences(t *testing.T) {
	for _, change := range changes {
		t.Run(change.name, func(t *testing.T) {
			t.Parallel()
			before, after := load(t, defined(change.before)), load(t, defined(change.after))
			compare := func(file, old *policy.File, want string) {
				if got := file.Since(old); got.Verdict != want || file.Proved(old) == got.MayWiden() {
					t.Errorf("%s, not %s, and proved: %v: %v", got.Verdict, want, file.Proved(old), got)
				}
			}
			compare(after, before, change.forth)
			compare(before, after, change.back)
		})
	}
}

// TestSamplesSame: no sample differs from itself with comments.
func TestSamplesSame(t *testing.T) {
	for name, text := range testenv.SamplePolicies(t) {
		if got := load(t, "# before\n"+text).Since(load(t, text)); got.Verdict != "no change" || len(got.Changes) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSamplesChanged changes numbers, and leaves out limits, clauses and votes of the samples: of what
// is proved to tighten, no request is found of which more is allowed.
func TestSamplesChanged(t *testing.T) {
	verdicts := map[string]int{}
	for name, text := range testenv.SamplePolicies(t) {
		rules, _, _ := strings.Cut(text, "\ntests:\n")
		old := load(t, text)
		for _, pattern := range []string{`'[0-9.]+'\)`, `max: "[0-9]+`, `count: [0-9]`, `, limit: [a-z-]+`, `effect\.[a-z]+ in [a-z]+ && `, ` && [^&"\n]+`, `, who: \{[^}]*\}`} {
			for _, at := range regexp.MustCompile(pattern).FindAllStringIndex(rules, -1) {
				for _, digit := range []string{"1", "8", ""} {
					was := rules[at[0]:at[1]]
					changed := digit
					if digits := strings.IndexAny(was, "123456789"); digits >= 0 {
						changed = was[:digits] + digit + was[digits+1:]
					}
					file, err := policy.Parse("policy.yaml", []byte(rules[:at[0]]+changed+rules[at[1]:]), options())
					if err != nil {
						continue
					}
					got := file.Since(old)
					verdicts[got.Verdict]++
					if file.Proved(old) == got.MayWiden() {
						t.Errorf("%s, %q for %q, proved: %v: %v", name, changed, was, file.Proved(old), got)
					}
				}
			}
		}
	}
	t.Log(verdicts)
	if verdicts["tightens"] < 20 || verdicts["widens"]+verdicts["both"] < 20 {
		t.Errorf("too few of a kind: %v", verdicts)
	}
}
