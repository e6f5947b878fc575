package policy_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/policy"
)

// truth is the result of a condition in the model.
type truth int

const (
	no truth = iota
	yes
	failed
)

// clause is a condition as an expression and as Go.
type clause struct {
	text string
	eval func(chains.Effect) truth
}

func truthOf(held bool) truth {
	if held {
		return yes
	}
	return no
}

// atoms are conditions about one effect.
func atoms(t testing.TB) []clause {
	token := chains.Token("eip155:1", party(t, usdc), "")
	at := func(p chains.Party, address string) truth {
		if p.IsNone() || p.IsUnknown() || p.IsSigner() {
			return failed
		}
		return truthOf(p.Equal(party(t, address)))
	}
	return []clause{
		{"effect.to in treasury", func(e chains.Effect) truth { return at(e.To, treasury) }},
		{"effect.to == address('" + thief + "')", func(e chains.Effect) truth { return at(e.To, thief) }},
		{"has(effect.to)", func(e chains.Effect) truth { return truthOf(at(e.To, thief) != failed) }},
		{"effect.kind in ['transfer']", func(e chains.Effect) truth { return truthOf(e.Kind == chains.KindTransfer) }},
		{"effect.decoded", func(e chains.Effect) truth { return truthOf(!e.Undecoded) }},
		{"effect.asset == usdc", func(e chains.Effect) truth {
			if e.Asset.IsNone() || e.Asset.IsUnknown() {
				return failed
			}
			return truthOf(e.Asset.Equal(token))
		}},
		{"effect.amount <= amount(usdc, '0.000005')", func(e chains.Effect) truth {
			if e.Amount.IsNone() || e.Amount.IsUnknown() || e.Asset.IsUnknown() || !e.Asset.Equal(token) {
				return failed
			}
			return truthOf(e.Amount.Value.Cmp(big.NewInt(5)) <= 0)
		}},
	}
}

// randomClause joins atoms by and, or and not.
func randomClause(random *rand.Rand, from []clause, depth int) clause {
	if depth == 0 || random.IntN(3) == 0 {
		return from[random.IntN(len(from))]
	}
	a, b := randomClause(random, from, depth-1), randomClause(random, from, depth-1)
	switch random.IntN(3) {
	case 0:
		return clause{"(" + a.text + " && " + b.text + ")", func(e chains.Effect) truth {
			if left := a.eval(e); left != yes {
				return left
			}
			return b.eval(e)
		}}
	case 1:
		return clause{"(" + a.text + " || " + b.text + ")", func(e chains.Effect) truth {
			if left := a.eval(e); left != no {
				return left
			}
			return b.eval(e)
		}}
	}
	return clause{"!(" + a.text + ")", func(e chains.Effect) truth {
		if value := a.eval(e); value == failed {
			return failed
		}
		return truthOf(a.eval(e) == no)
	}}
}

// modelRule is a rule in the model.
type modelRule struct {
	deny  bool
	kinds []chains.Kind
	tag   string
	when  clause

	hazards []string
}

var modelKinds = []chains.Kind{chains.KindTransfer, chains.KindApprove, chains.KindFee, chains.KindCall}

// modelHazards are the hazards of requests and effects in the model.
var modelHazards = []string{"ethereum/no-chain-id", "eip712/far-deadline"}

// randomHazards draws hazards of the request, and of effects that exist or not.
func randomHazards(random *rand.Rand) (hazards []chains.Hazard) {
	for range max(0, random.IntN(5)-2) {
		hazard := chains.Hazard{Name: modelHazards[random.IntN(len(modelHazards))]}
		if index := random.IntN(8) - 4; index >= 0 {
			hazard = hazard.OnEffect(index)
		}
		hazards = append(hazards, hazard)
	}
	return hazards
}

func randomRule(random *rand.Rand, from []clause) modelRule {
	rule := modelRule{deny: random.IntN(4) == 0, when: randomClause(random, from, 3)}
	for _, kind := range modelKinds {
		if random.IntN(2) == 0 {
			rule.kinds = append(rule.kinds, kind)
		}
	}
	if len(rule.kinds) == 0 {
		rule.kinds = modelKinds
	}
	rule.tag = []string{"", "", "agent", "ops"}[random.IntN(4)]
	for _, name := range modelHazards {
		if !rule.deny && random.IntN(2) == 0 {
			rule.hazards = append(rule.hazards, name)
		}
	}
	return rule
}

func (r *modelRule) text(index int) string {
	verb, who := "allow", ""
	if r.deny {
		verb = "deny"
	}
	if r.tag != "" {
		who = ", who: {tag: " + r.tag + "}"
	}
	var kinds []string
	for _, kind := range r.kinds {
		kinds = append(kinds, string(kind))
	}
	if len(r.hazards) > 0 {
		who += ", of: transactions, chains: [eip155:1], hazards: [" + strings.Join(r.hazards, ", ") + "]"
	}
	return fmt.Sprintf("  - {name: r%d, %s: [%s]%s, when: %s}\n", index, verb, strings.Join(kinds, ", "), who, quoted(r.when.text))
}

// lists reports whether the rule lists the hazards of an effect, and those that are of no
// effect that a rule must decide.
func (r *modelRule) lists(hazards []chains.Hazard, covers []bool, effect int) bool {
	return !slices.ContainsFunc(hazards, func(hazard chains.Hazard) bool {
		index, ok := hazard.Effect()
		whole := !ok || index >= len(covers) || !covers[index]
		return (whole || index == effect) && !slices.Contains(r.hazards, hazard.Name)
	})
}

// judge implements rules 1 and 2 of the package comment literally. Change needs a rule unless
// there is something else; a fee with nothing else needs one with alone, which no drawn rule has.
func judge(rules []modelRule, effects []chains.Effect, hazards []chains.Hazard) bool {
	purpose, change := needsRule(effects), false
	for _, effect := range effects {
		change = change || effect.Change && effect.By != chains.ByOther
	}
	covers, covered := make([]bool, len(effects)), false
	for i, effect := range effects {
		covers[i] = effect.By != chains.ByOther && (!effect.Change || !purpose)
		covered = covered || covers[i]
	}
	for i := range effects {
		if covers[i] && !judgeEffect(rules, effects, hazards, covers, i) {
			return false
		}
	}
	return covered && (purpose || change)
}

// judgeEffect reports whether an allow covers an effect, and no deny.
func judgeEffect(rules []modelRule, effects []chains.Effect, hazards []chains.Hazard, covers []bool, index int) (allowed bool) {
	effect := effects[index]
	for _, rule := range rules {
		about := rule.tag == "" || rule.tag == "agent"
		for _, kind := range rule.kinds {
			if kind != effect.Kind || !about {
				continue
			}
			value := rule.when.eval(effect)
			if rule.deny && value != no {
				return false
			}
			allowed = allowed || !rule.deny && value == yes && rule.lists(hazards, covers, index)
		}
	}
	return allowed
}

func randomEffect(t testing.TB, random *rand.Rand) chains.Effect {
	pick := func(n int) int { return random.IntN(n) }
	return chains.Effect{
		Kind:      modelKinds[pick(len(modelKinds))],
		By:        []chains.By{chains.BySigner, chains.BySigner, chains.ByStanding, chains.ByOther}[pick(4)],
		To:        []chains.Party{party(t, treasury), party(t, thief), {}, chains.UnknownParty(), chains.SignerParty()}[pick(5)],
		Asset:     []chains.Asset{chains.Token("eip155:1", party(t, usdc), "erc20"), chains.Native("eip155:1"), {}, chains.UnknownAsset("eip155:1")}[pick(4)],
		Amount:    []chains.Quantity{{}, chains.Exactly(big.NewInt(5)), chains.AtMost(big.NewInt(6)), chains.Unlimited(nil), chains.All(), chains.AtLeast(big.NewInt(1))}[pick(6)],
		Undecoded: pick(4) == 0,
		Change:    pick(6) == 0,
	}
}

// TestAgainstModel compares decisions about random files and effects with those of the
// model.
func TestAgainstModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	from := atoms(t)
	allowed, hazardous, files := 0, 0, 300
	for range files {
		var rules []modelRule
		var text strings.Builder
		text.WriteString(head + "rules:\n  - {name: uses, deny: mint, when: 'effect.asset == usdc && effect.to in treasury'}\n")
		for i := range 1 + random.IntN(6) {
			rules = append(rules, randomRule(random, from))
			text.WriteString(rules[i].text(i))
		}
		file := load(t, text.String())
		for range 100 {
			var effects []chains.Effect
			for range random.IntN(4) {
				effects = append(effects, randomEffect(t, random))
			}
			asked := ask(effects...)
			asked.Hazards = randomHazards(random)
			_, err := file.Decide(t.Context(), asked)
			if err != nil && !errors.Is(err, access.ErrDenied) {
				t.Fatal(err)
			}
			want := judge(rules, effects, asked.Hazards)
			if want != (err == nil) {
				t.Fatalf("%v, the model says %v\n%s\n%+v", err, want, text.String(), asked)
			}
			if !want {
				checkNoDust(t, file, asked, randomEffect(t, random))
				continue
			}
			allowed++
			hazardous += min(1, len(asked.Hazards))
		}
	}
	if allowed < files || hazardous < files/4 {
		t.Errorf("%d requests were allowed, %d of them with hazards: too few to say anything", allowed, hazardous)
	}
}

// checkNoDust checks that a refused request stays refused when an effect is put before the
// others, or behind them.
func checkNoDust(t *testing.T, file *policy.File, asked access.Authorization, dust chains.Effect) {
	t.Helper()
	if dust.By == chains.ByOther || dust.Change || len(asked.Effects) == 0 {
		return
	}
	effects, hazards := asked.Effects, asked.Hazards
	asked.Effects = append(slices.Clone(effects), dust)
	if _, err := file.Decide(t.Context(), asked); err == nil && !pointsAt(hazards, len(effects)) && needsRule(effects) {
		t.Fatalf("%+v behind the other effects launders %+v", dust, asked)
	}
	asked.Effects, asked.Hazards = append([]chains.Effect{dust}, effects...), slices.Clone(hazards)
	for i, hazard := range hazards {
		if index, ok := hazard.Effect(); ok {
			asked.Hazards[i] = hazard.OnEffect(index + 1)
		}
	}
	if _, err := file.Decide(t.Context(), asked); err == nil && needsRule(effects) {
		t.Fatalf("%+v before the other effects launders %+v", dust, asked)
	}
}

func pointsAt(hazards []chains.Hazard, effect int) bool {
	return slices.ContainsFunc(hazards, func(hazard chains.Hazard) bool { index, ok := hazard.Effect(); return ok && index == effect })
}

// needsRule reports whether effects have a purpose.
func needsRule(effects []chains.Effect) bool {
	return slices.ContainsFunc(effects, func(effect chains.Effect) bool {
		return effect.By != chains.ByOther && !effect.Change && effect.Kind != chains.KindFee
	})
}

// FuzzParse: no file makes the parser panic, and accepted files judge ordinary requests.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + pays))
	f.Add([]byte(limited))
	f.Add([]byte(purposeRules))
	f.Add([]byte("schema: countersign.policy/2\nlists: {a: {any_chain: true, shared: true, addresses: [" + p2pkh + "]}}\nrules:\n  - {name: a, deny: transfer, of: messages, chains: [eip155:1], when: \"effects.all(e, !(e.to in a))\"}\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("? {a: [b, c]}\n: - - - d"))
	f.Add([]byte(head + "rules:\n  - name: a\n    allow: [transfer, fee]\n    when: |\n      effects.filter(e, e.kind == 'fee')[0].amount <= ether('1') + gwei('2')\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := policy.Parse("fuzz", content, options())
		if err != nil {
			if _, ok := errors.AsType[*policy.Error](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if file.Effects() < 32 {
			t.Errorf("judges %d effects", file.Effects())
		}
	})
}

// FuzzExpression uses any text as a condition, and evaluates it if it is accepted.
func FuzzExpression(f *testing.F) {
	for _, atom := range atoms(f) {
		f.Add(atom.text)
	}
	for _, text := range []string{"effects.all(e, e.by == 'signer')", "eth.tx.to in treasury", "time.within('Mo-Su 00:00-24:00 UTC')",
		"request.total(usdc) < amount(usdc, '5')", "key.addresses[0] == effect.to", "user.tags.exists(t, t.startsWith('a'))", "effect.arg('a') == \"b\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, condition string) {
		if strings.ContainsAny(condition, "\n\r") {
			return
		}
		text := head + "rules:\n  - {name: uses, deny: mint, when: 'effect.asset == usdc && effect.to in treasury'}\n" +
			"  - {name: a, allow: [transfer, fee], on: ethereum, when: " + quoted(condition) + "}\n"
		file, err := policy.Parse("fuzz", []byte(text), options())
		if err != nil {
			return
		}
		effects := []chains.Effect{tokens(t, treasury, chains.Exactly(big.NewInt(1))), {Kind: chains.KindFee, By: chains.BySigner}}
		_, err = file.Decide(t.Context(), ask(effects...))
		if err != nil && !errors.Is(err, access.ErrDenied) {
			t.Fatal(err)
		}
		explained, problem := file.Explain(t.Context(), ask(effects...))
		if problem != nil || (explained.Decision == "deny") != (err != nil) || explained.String() == "" {
			t.Fatalf("explained as %+v, %v; decided %v", explained, problem, err)
		}
	})
}
