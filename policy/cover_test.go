package policy_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
)

// TestEveryHazard: a rule covers an effect exactly if it lists the effect's hazards and
// those of the request, or blind-call for the blind calls of all chains.
func TestEveryHazard(t *testing.T) {
	names := all.HazardNames()
	blind := 0
	for _, listed := range append(names, "blind-call") {
		file := load(t, head+"rules:\n  - {name: a, allow: transfer, when: effect.to in treasury || effect.asset == usdc, of: transactions, chains: [eip155:1], hazards: "+listed+"}\n")
		for _, name := range names {
			isBlind := listed == "blind-call" && strings.HasSuffix(name, "/blind-call")
			if isBlind {
				blind++
			}
			want := listed == name || isBlind
			for _, hazard := range []chains.Hazard{{Name: name}, chains.Hazard{Name: name}.OnEffect(0)} {
				asked := ask(ether(t, treasury, 1))
				asked.Hazards = []chains.Hazard{hazard}
				decision, err := file.Decide(t.Context(), asked)
				if (err == nil) != want || want && !slices.Equal(decision.Hazards, asked.Hazards) {
					t.Errorf("%+v with hazards: %s: %v, %v", hazard, listed, decision.Hazards, err)
				}
			}
		}
	}
	if blind == 0 {
		t.Error("no chain has a blind call")
	}
}

// TestHazardsOfTheRequest: each rule that decides an effect must list a hazard of the
// request. So must it one of an effect that no rule decides. A rule on request allows it
// only where it is the rule that decides.
func TestHazardsOfTheRequest(t *testing.T) {
	const file = head + `rules:
  - {name: usd, allow: transfer, when: effect.asset == usdc}
  - {name: pays, allow: transfer, when: effect.to in treasury, hazards: [ethereum/no-chain-id, ethereum/delegation], of: transactions, chains: [eip155:1]}
  - {name: gas, allow: fee, hazards: ethereum/no-chain-id, of: transactions}
  - {name: whole, allow: request, when: "effects.all(e, e.kind in ['transfer', 'approve', 'fee'])", hazards: [ethereum/no-chain-id, ethereum/burn], of: transactions, chains: [eip155:1]}
`
	first, second, burn := chains.Hazard{Name: "ethereum/no-chain-id"}, chains.Hazard{Name: "ethereum/delegation"}, chains.Hazard{Name: "ethereum/burn"}
	pay, usd := ether(t, treasury, 1), tokens(t, thief, chains.Exactly(big.NewInt(5)))
	fee, approve, foreign := ether(t, thief, 1), ether(t, thief, 1), ether(t, thief, 5)
	fee.Kind, approve.Kind, foreign.By = chains.KindFee, chains.KindApprove, chains.ByOther
	for name, test := range map[string]struct {
		effects []chains.Effect
		hazards []chains.Hazard
		want    string // the rules that allow, or why none does
	}{
		"listed by all that decide":           {[]chains.Effect{pay, fee}, []chains.Hazard{first}, "allowed by pays,gas"},
		"twice":                               {[]chains.Effect{pay, fee}, []chains.Hazard{first, first}, "allowed by pays,gas"},
		"one is passed over, request decides": {[]chains.Effect{usd}, []chains.Hazard{first}, "allowed by whole"},
		"request decides one":                 {[]chains.Effect{pay, usd}, []chains.Hazard{first}, "allowed by pays,whole"},
		"request decides a kind of its own":   {[]chains.Effect{pay, approve}, []chains.Hazard{first}, "allowed by pays,whole"},
		"request decides all":                 {[]chains.Effect{pay, fee}, []chains.Hazard{burn}, "allowed by whole"},
		"one lists one, one the other":        {[]chains.Effect{pay, fee}, []chains.Hazard{second}, "rule gas would cover it, but does not list the request's hazard ethereum/delegation (why)"},
		"of the effect":                       {[]chains.Effect{pay, fee}, []chains.Hazard{second.OnEffect(0)}, "allowed by pays,gas"},
		"of the other effect":                 {[]chains.Effect{pay, fee}, []chains.Hazard{second.OnEffect(1)}, "rule gas would cover it, but does not list its hazard ethereum/delegation (why)"},
		"of an effect that none decides":      {[]chains.Effect{pay, foreign}, []chains.Hazard{first.OnEffect(1)}, "allowed by pays"},
		"of one that none decides, unlisted":  {[]chains.Effect{usd, foreign, {Kind: chains.KindCall, By: chains.ByOther}}, []chains.Hazard{first.OnEffect(1)}, "rule usd would cover it, but does not list its hazard ethereum/no-chain-id (why)"},
		"behind the effects, for one":         {[]chains.Effect{pay, fee}, []chains.Hazard{second.OnEffect(7)}, "rule gas would cover it"},
		"behind the effects":                  {[]chains.Effect{pay}, []chains.Hazard{first.OnEffect(1)}, "allowed by pays"},
		"behind the effects, unlisted":        {[]chains.Effect{pay}, []chains.Hazard{{Name: "ethereum/oversize"}}, "rule pays would cover it, but does not list the request's hazard ethereum/oversize"},
	} {
		asked := ask(test.effects...)
		asked.Hazards = slices.Clone(test.hazards)
		for i := range asked.Hazards {
			asked.Hazards[i].Detail = "why"
		}
		got, decision := decide(t, file, asked)
		if !strings.Contains(got, test.want) || strings.HasPrefix(got, "allowed") && (got != test.want || len(decision.Hazards) != len(asked.Hazards)) {
			t.Errorf("%s: %s, %v, want %s", name, got, decision.Hazards, test.want)
		}
	}
}

// TestSubjects: what a limit is counted for. Keys that do not share what it is counted per
// have no subject, and the limit's rule does not cover the effect.
func TestSubjects(t *testing.T) {
	key := func(id, wallet string) access.SigningKey {
		return access.SigningKey{ID: id, Name: "name of " + id, WalletID: wallet, WalletName: "name of " + wallet}
	}
	one, same, other := key("k-1", "w-1"), key("k-2", "w-1"), key("k-3", "w-2")
	alone, alone2 := access.SigningKey{ID: "k-4", WalletName: "x"}, access.SigningKey{ID: "k-5", WalletName: "x"}
	for _, test := range []struct {
		keys        []access.SigningKey
		key, wallet string // empty: no single one
	}{
		{nil, "", ""},
		{[]access.SigningKey{one}, "k-1", "w-1"},
		{[]access.SigningKey{alone}, "k-4", "k-4"},
		{[]access.SigningKey{one, one}, "k-1", "w-1"},
		{[]access.SigningKey{one, same}, "", "w-1"},
		{[]access.SigningKey{one, other}, "", ""},
		{[]access.SigningKey{other, one}, "", ""},
		{[]access.SigningKey{one, same, other}, "", ""},
		{[]access.SigningKey{other, one, same}, "", ""},
		{[]access.SigningKey{one, alone}, "", ""},
		{[]access.SigningKey{alone, alone2}, "", ""},
	} {
		for per, want := range map[string]string{"key": test.key, "wallet": test.wallet, "user": "u-1", "organization": "organization", "to": treasury, "credential": ""} {
			file := head + "limits:\n  - {name: day, asset: usdc, max: \"9\", window: 24h, per: " + per + "}\n" +
				"rules:\n  - {name: pays, allow: transfer, when: effect.to in treasury, limit: day}\n"
			asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(5))))
			asked.Keys = test.keys
			asked.User.Name = "another name"
			got, decision := decide(t, file, asked)
			problem := "rule pays could not be decided: limit day of rule pays cannot count effect 0 (transfer to " + treasury + "): it has no single " + per
			if len(test.keys) == 0 && (per == "key" || per == "wallet") {
				problem = "the request names no key"
			}
			switch {
			case want == "" && !strings.HasSuffix(got, problem):
				t.Errorf("per %s with keys %v: %s, want %s", per, test.keys, got, problem)
			case want != "" && (len(decision.Charges) != 1 || !strings.EqualFold(decision.Charges[0].Subject, want)):
				t.Errorf("per %s with keys %v: %s, %+v, want subject %s", per, test.keys, got, decision.Charges, want)
			}
		}
	}
}

// TestCountedEffects: request.total counts what we authorize to be spent, except change, and
// so do limits. The total is unknown if one of the amounts has no bound.
func TestCountedEffects(t *testing.T) {
	const pays = "  - {name: all, allow: transfer, when: effect.to in treasury, limit: [day]}\n"
	files := map[int64]*policy.File{}
	for _, sum := range []int64{10, 17} {
		files[sum] = load(t, head+"limits:\n  - {name: day, asset: usdc, max: \"9\", window: 24h, per: user}\nrules:\n"+
			fmt.Sprintf("  - {name: no, deny: request, when: request.total(usdc) == units('%d')}\n", sum)+pays)
	}
	counted := []chains.Kind{chains.KindTransfer, chains.KindApprove, chains.KindFee, chains.KindCreate, chains.KindBurn, chains.KindStake}
	amounts := map[string]chains.Quantity{
		"none": {}, "exact": chains.Exactly(big.NewInt(7)), "most": chains.AtMost(big.NewInt(7)), "added": {Bound: chains.BoundAdded, Value: big.NewInt(7)},
		"unknown": chains.UnknownQuantity(), "unlimited": chains.Unlimited(big.NewInt(7)), "least": chains.AtLeast(big.NewInt(7)), "all": chains.All(),
	}
	for _, kind := range append(counted, chains.KindCall, chains.KindRevoke, chains.KindAuthority, chains.KindMessage) {
		for _, by := range []chains.By{chains.BySigner, chains.ByStanding, chains.ByOther} {
			for _, change := range []bool{false, true} {
				for name, amount := range amounts {
					one := tokens(t, treasury, amount)
					one.Kind, one.By, one.Change = kind, by, change
					counts := slices.Contains(counted, kind) && by != chains.ByOther && !change && name != "none"
					bounded := name == "exact" || name == "most" || name == "added"
					for sum, file := range files {
						_, err := file.Decide(t.Context(), ask(one, tokens(t, treasury, chains.Exactly(big.NewInt(10)))))
						got := fmt.Sprint(err)
						denied, failed := strings.Contains(got, "rule no denies this request"), strings.Contains(got, "rule no could not be decided")
						if is17 := counts && bounded; failed != (counts && !bounded) || denied != (!failed && is17 == (sum == 17)) {
							t.Errorf("%s by %v, change %v, %s, compared with %d: %s", kind, by, change, name, sum, got)
						}
					}
				}
			}
		}
	}
}

// TestAmountsOfOneAsset: amounts of one asset are added and compared, those of two are not.
func TestAmountsOfOneAsset(t *testing.T) {
	for when, want := range map[string]string{
		"effect.amount + amount(usdc, '1') == amount(usdc, '6')":                                      "allowed",
		"effect.amount + amount(usdc, '1') == amount(usdc, '5')":                                      "is not covered by any rule; conditions that do not hold: a",
		"amount(usdc, '1') + effect.amount <= amount(usdc, '6')":                                      "allowed",
		"units('1') + effect.amount == units('5000001')":                                              "allowed",
		"effect.amount + units('1') > amount(usdc, '5')":                                              "allowed",
		"units('1') + units('2') < effect.amount":                                                     "allowed",
		"effect.amount + ether('1') > amount(usdc, '1')":                                              "could not be decided",
		"ether('1') + effect.amount > amount(usdc, '1')":                                              "could not be decided",
		"units('1') + effect.amount > ether('1')":                                                     "could not be decided",
		"effect.amount + units('1') > ether('1')":                                                     "could not be decided",
		"effect.amount > ether('1')":                                                                  "could not be decided",
		"ether('1') < effect.amount":                                                                  "could not be decided",
		"effect.amount + amount(usdc, '1') + amount(usdc, '1') > amount(usdc, '6')":                   "allowed",
		"amount(usdc, '1') < amount(usdc, '2') && effect.amount >= amount(usdc, '5')":                 "allowed",
		"request.total(usdc) + effect.amount == amount(usdc, '10')":                                   "allowed",
		"effect.amount + effect.amount + effect.amount == units('15000000')":                          "allowed",
		"effect.amount + amount(usdc, '1') == amount(usdc, '6') && effect.amount < amount(usdc, '6')": "allowed",
	} {
		file := head + "rules:\n  - {name: usd, allow: approve, when: effect.asset == usdc}\n  - {name: a, allow: transfer, when: \"effect.to in treasury && " + when + "\"}\n"
		if got, _ := decide(t, file, ask(tokens(t, treasury, chains.Exactly(big.NewInt(5e6))))); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
}

// TestAuthorizeWithVotes: Authorize allows what needs approvals once the votes are there.
func TestAuthorizeWithVotes(t *testing.T) {
	file := load(t, head+"rules:\n  - {name: a, allow: transfer, when: effect.asset == usdc && effect.to in treasury, approvals: [{count: 2}, {count: 1, tag: ops, not: submitter}]}\n")
	asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(5))))
	vote := func(id string, tags ...string) access.Vote {
		return access.Vote{User: access.User{ID: id, Tags: tags}, At: asked.Now}
	}
	for name, test := range map[string]struct {
		votes   []access.Vote
		allowed bool
	}{
		"none":                         {nil, false},
		"one group":                    {[]access.Vote{vote("x"), vote("y")}, false},
		"the other":                    {[]access.Vote{vote("x", "ops")}, false},
		"both":                         {[]access.Vote{vote("x"), vote("z"), vote("y", "ops")}, true},
		"the submitter is not another": {[]access.Vote{vote("x"), vote("u-1", "ops")}, false},
		"named like the submitter":     {[]access.Vote{vote("x"), vote("y"), vote("bot", "ops")}, true},
		"one person in two groups":     {[]access.Vote{vote("x"), vote("y", "ops")}, false},
		"moved to the other group":     {[]access.Vote{vote("x", "ops"), vote("y"), vote("z")}, true},
	} {
		asked.Votes = test.votes
		err := file.Authorize(t.Context(), asked)
		denial, _ := err.(*policy.Denial)
		if (err == nil) != test.allowed || err != nil && (denial == nil || *denial != policy.Denial{Rule: "a", Effect: -1, Text: "this needs approvals"}) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// TestDenials: the rule, the effect and the text of refusals.
func TestDenials(t *testing.T) {
	many := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "  - {name: r%d, allow: transfer, when: \"effect.to in treasury && user.name == '%d'\"}\n", i, i)
		}
		return text.String()
	}
	at := "effect 1 (transfer to " + thief + ")"
	for name, test := range map[string]struct {
		rules string
		want  policy.Denial
	}{
		"no rule":       {"  - {name: call, allow: call, when: effect.to in treasury || effect.asset == usdc}\n", policy.Denial{Effect: 1, Text: at + " is not covered by any rule"}},
		"one condition": {many(1), policy.Denial{Effect: 1, Text: at + " is not covered by any rule; conditions that do not hold: r0"}},
		"five":          {many(5), policy.Denial{Effect: 1, Text: at + " is not covered by any rule; conditions that do not hold: r0, r1, r2, r3, r4"}},
		"six":           {many(6), policy.Denial{Effect: 1, Text: at + " is not covered by any rule; conditions that do not hold: r0, r1, r2, r3, r4 and others"}},
		"a deny":        {"  - {name: no, deny: transfer, when: '!(effect.to in treasury)'}\n", policy.Denial{Rule: "no", Effect: 1, Text: "rule no denies " + at}},
		"of all":        {"  - {name: no, deny: request, when: \"user.name == 'bot'\"}\n", policy.Denial{Rule: "no", Effect: -1, Text: "rule no denies this request"}},
	} {
		other := ether(t, treasury, 1)
		other.By = chains.ByOther
		_, err := load(t, head+"rules:\n  - {name: usd, allow: approve, when: 'effect.asset == usdc && effect.to in treasury'}\n"+test.rules).Decide(t.Context(), ask(other, ether(t, thief, 1)))
		denial, ok := err.(*policy.Denial)
		if !ok || *denial != test.want {
			t.Errorf("%s: %+v, want %+v", name, err, test.want)
		}
	}
	asked := ask(ether(t, thief, 1))
	asked.Keys = append(asked.Keys, access.SigningKey{ID: "k-2"})
	for n, want := range map[int]string{0: "key: 0 keys sign this request", 1: "conditions that do not hold: a", 2: "key: 2 keys sign this request"} {
		asked := asked
		asked.Keys = asked.Keys[:n]
		if got, _ := decide(t, head+"rules:\n  - {name: a, allow: transfer, when: \"key.name == 'cold' && (effect.to in treasury || effect.asset == usdc)\"}\n", asked); !strings.Contains(got, want) {
			t.Errorf("%d keys: %s, want %s", n, got, want)
		}
	}
}

// TestUncountable: what a refusal says of an effect that a limit cannot count. Only an amount
// without a bound exceeds the limit, so that rules with fewer approvals are not considered.
func TestUncountable(t *testing.T) {
	rule := func(approvals string) string {
		return head + "limits:\n  - {name: day, asset: usdc, max: \"9\", window: 24h, per: user}\nrules:\n" +
			"  - {name: pays, allow: [transfer, call], when: effect.to in treasury, limit: day" + approvals + "}\n"
	}
	unknown := tokens(t, treasury, chains.Exactly(big.NewInt(1)))
	unknown.Asset = chains.UnknownAsset("eip155:1")
	call := chains.Effect{Kind: chains.KindCall, By: chains.BySigner, To: party(t, treasury)}
	another := tokens(t, treasury, chains.Exactly(big.NewInt(1)))
	another.Asset = chains.Token("eip155:1", party(t, thief), "erc20")
	for name, test := range map[string]struct {
		effect  chains.Effect
		problem string
	}{
		"no amount":     {call, "effect 0 (call to " + treasury + "): it has no amount that is spent"},
		"unknown asset": {unknown, "its asset is unknown"},
		"ether":         {ether(t, treasury, 1), "it is of the native asset of eip155:1"},
		"another token": {another, "it is of eip155:1 " + thief},
	} {
		if got, _ := decide(t, rule(""), ask(test.effect)); !strings.Contains(got, "rule pays could not be decided: limit day of rule pays cannot count effect 0") || !strings.HasSuffix(got, test.problem) {
			t.Errorf("%s: %s, want %s", name, got, test.problem)
		}
	}
	for _, amount := range []chains.Quantity{chains.UnknownQuantity(), chains.Unlimited(big.NewInt(1)), chains.All(), chains.AtLeast(big.NewInt(1))} {
		_, err := load(t, rule("")).Decide(t.Context(), ask(tokens(t, treasury, amount)))
		denial, _ := errors.AsType[*policy.Denial](err)
		exceeded, ok := errors.AsType[*store.LimitError](err)
		if !ok || exceeded.Charge.Limit != "day" || denial.Rule != "pays" || !strings.HasSuffix(denial.Text, "its amount is not bounded") {
			t.Errorf("%v: %+v", amount, err)
		}
		fewer := "  - {name: fewer, allow: transfer, when: effect.to in treasury, approvals: [{count: 1, tag: a}, {count: 1, tag: b}]}\n"
		enough := "  - {name: enough, allow: transfer, when: effect.to in treasury, approvals: [{count: 1, tag: a}, {count: 2, tag: b}]}\n"
		for rest, want := range map[string]string{fewer: "limit day", fewer + enough: "allowed by enough", enough + fewer: "allowed by enough"} {
			if got, _ := decide(t, rule(", approvals: [{count: 2, tag: a}, {count: 1, tag: b}]")+rest, ask(tokens(t, treasury, amount))); !strings.HasPrefix(got, want) {
				t.Errorf("%v: %s, want %s", amount, got, want)
			}
		}
	}
	asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(1))))
	asked.Spent = spent(20e6)
	if got, _ := decide(t, rule(""), asked); !strings.Contains(got, "limit day of rule pays: 0.000001 usdc is requested, 0 of 9 usdc is left within 24h") {
		t.Error(got)
	}
}
