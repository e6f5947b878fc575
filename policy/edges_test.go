package policy_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// TestSharpEdges checks what docs/policies.md warns of, line by line, and the alternatives
// that it suggests.
func TestSharpEdges(t *testing.T) {
	usd := func(to string, units int64) chains.Effect { return tokens(t, to, chains.Exactly(big.NewInt(units))) }
	approve := tokens(t, treasury, chains.Unlimited(nil))
	approve.Kind = chains.KindApprove
	unknownTo := ether(t, thief, 1)
	unknownTo.To = chains.UnknownParty()
	call := chains.Effect{Kind: chains.KindCall, By: chains.BySigner, To: party(t, thief), Undecoded: true}
	other := ether(t, thief, 1)
	other.By = chains.ByOther
	change := ether(t, thief, 1)
	change.Change = true
	argument := call
	argument.Args = []chains.Arg{{Name: "receiver", Value: treasury}}
	const uses, all = "  - {name: uses, deny: mint, when: effect.asset == usdc && effect.to in treasury}\n", "  - {name: all, allow: [transfer, approve, fee, call]}\n"
	for _, test := range []struct {
		edge, rules string
		effects     []chains.Effect
		want        string
	}{
		{"exists over effects opens the others", "  - {name: a, allow: transfer, when: 'effects.exists(e, e.to in treasury)'}\n", []chains.Effect{usd(treasury, 1), usd(thief, 9)}, "allowed by a"},
		{"effect does not", "  - {name: a, allow: transfer, when: effect.to in treasury}\n", []chains.Effect{usd(treasury, 1), usd(thief, 9)}, "effect 1"},
		{"all holds of none", "  - {name: a, allow: call, when: 'effects.filter(e, e.kind == \"transfer\").all(e, e.to in treasury)'}\n", []chains.Effect{call}, "allowed by a"},
		{"a deny on an amount denies what has none", "  - {name: a, deny: [transfer, call], when: \"effect.amount > amount(usdc, '10')\"}\n" + all, []chains.Effect{call}, "could not be decided"},
		{"and what is of another asset", "  - {name: a, deny: transfer, when: \"effect.amount > amount(usdc, '10')\"}\n" + all, []chains.Effect{ether(t, treasury, 1)}, "could not be decided"},
		{"asked for the asset first, it does not", "  - {name: a, deny: transfer, when: \"effect.asset == usdc && effect.amount > amount(usdc, '10')\"}\n" + all, []chains.Effect{ether(t, treasury, 1)}, "allowed by all"},
		{"a recipient that is unknown is in no list, nor outside of one", "  - {name: a, allow: transfer, when: '!(effect.to in treasury)'}\n", []chains.Effect{unknownTo}, "effect.to is unknown"},
		{"in a deny that denies", "  - {name: a, deny: transfer, when: '!(effect.to in treasury)'}\n" + all, []chains.Effect{unknownTo}, "could not be decided"},
		{"a request is everything", "  - {name: a, allow: request}\n", []chains.Effect{usd(thief, 9), approve, call}, "allowed by a"},
		{"an approval is spending", "  - {name: a, allow: [transfer, approve], when: 'effect.to in treasury && effect.asset == usdc', limit: day}\n", []chains.Effect{approve}, "limit day"},
		{"what another signs is not judged", "  - {name: a, deny: transfer, when: '!(effect.to in treasury)'}\n" + all, []chains.Effect{usd(treasury, 1), other}, "allowed by all"},
		{"but by a deny with others", "  - {name: a, deny: transfer, others: true, when: '!(effect.to in treasury)'}\n" + all, []chains.Effect{usd(treasury, 1), other}, "rule a denies effect 1"},
		{"an allow with others makes it need cover", "  - {name: a, allow: transfer, others: true, when: effect.to in treasury}\n", []chains.Effect{usd(treasury, 1), other}, "effect 1"},
		{"which that allow gives", "  - {name: a, allow: transfer, others: true, when: 'effect.to in treasury || effect.by == \"other\"'}\n", []chains.Effect{usd(treasury, 1), other}, "allowed by a"},
		{"and no other", "  - {name: b, allow: transfer}\n  - {name: a, allow: transfer, others: true, when: effect.to in treasury}\n", []chains.Effect{usd(treasury, 1), other}, "effect 1"},
		{"what another signs alone is nothing to allow, unless asked for", "  - {name: a, allow: transfer, others: true}\n", []chains.Effect{other}, "allowed by a"},
		{"change is not judged, not by others either", "  - {name: a, deny: transfer, others: true, when: '!(effect.to in treasury)'}\n" + all, []chains.Effect{usd(treasury, 1), change}, "allowed by all"},
		{"units are of any asset", "  - {name: a, allow: transfer, when: \"effect.amount <= units('5')\"}\n", []chains.Effect{usd(thief, 5), ether(t, thief, 5)}, "allowed by a"},
		{"an argument is text", "  - {name: a, allow: call, when: \"effect.arg('receiver') == '" + treasury + "'\"}\n", []chains.Effect{argument}, "allowed by a"},
		{"and its spelling counts", "  - {name: a, allow: call, when: \"effect.arg('receiver') == '" + strings.ToLower(treasury) + "'\"}\n", []chains.Effect{argument}, "effect 0"},
	} {
		limits := "limits:\n  - {name: day, asset: usdc, max: \"1000000\", window: 24h, per: key}\n"
		rules := test.rules
		if !strings.Contains(rules, "limit: day") {
			rules += "  - {name: spends, deny: burn, when: effect.asset == usdc}\n"
			limits = ""
		}
		if got, _ := decide(t, head+limits+"rules:\n"+uses+rules, ask(test.effects...)); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", test.edge, got, test.want)
		}
	}
	if load(t, head+pays).Digest() == load(t, head+pays+"# a comment\n").Digest() {
		t.Error("a comment does not change the digest")
	}
}
