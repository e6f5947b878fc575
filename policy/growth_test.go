package policy_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/policy"
)

func payouts(t testing.TB, count int) access.Authorization {
	var effects []chains.Effect
	for i := range count {
		effects = append(effects, tokens(t, treasury, chains.Exactly(big.NewInt(900_000+int64(i)))))
	}
	return ask(effects...)
}

// TestQuickJudge: for drawn files and requests, comparisons without a program and answers that
// are kept change no decision, no refusal and no explanation.
func TestQuickJudge(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	from := atoms(t)
	for _, text := range []string{
		"usdc == effect.asset", "effect.asset != usdc", "effect.amount > amount(usdc, '0.000005')", "effect.amount >= ether('1')",
		"effect.by == 'signer'", "has(effect.to) == true", "has(effect.amount) == false", "effect.decoded == true", "effect.to == effect.from", "effect.amount == units('5')", "effect.amount < wei('6')",
		"user.tags.exists(tag, tag == 'agent')", "effects.all(e, e.decoded)", "request.total(usdc) <= amount(usdc, '0.000006')",
		"size(effects) < 3", "eth.tx.chain_id == 1", "effect.kind in ['transfer', 'fee', 'call', 'approve']", "effect.account in treasury", "effect.to in [address('" + thief + "')]",
	} {
		from = append(from, clause{text: text})
	}
	decided, quick := map[bool]int{}, 0
	prices := []string{
		"  - {name: unpaid, deny: transfer, when: \"!effects.exists(e, e.kind == 'receive' && e.amount >= units('2'))\"}\n",
		"  - {name: paid, allow: [transfer, call], bundle: true, when: \"effects.exists(e, e.kind == 'receive' && e.amount >= units('2'))\"}\n",
		"  - {name: whole, allow: request, bundle: true, when: \"effects.exists(e, e.kind == 'receive' && e.amount >= units('4'))\"}\n", "", "",
	}
	for range 120 {
		var text strings.Builder
		text.WriteString(head + "rules:\n  - {name: uses, deny: mint, when: 'effect.asset == usdc && effect.to in treasury'}\n")
		text.WriteString(prices[random.IntN(len(prices))])
		for i := range 1 + random.IntN(8) {
			rule := randomRule(random, from)
			for range random.IntN(3) {
				rule.when.text = from[random.IntN(len(from))].text + " && " + rule.when.text
			}
			text.WriteString(strings.Replace(rule.text(i), ", when:", ", on: ethereum, when:", 1))
		}
		file := load(t, text.String())
		plain := file.Plain()
		some, _ := file.Quick()
		quick += some
		for range 50 {
			var effects []chains.Effect
			for range random.IntN(6) {
				effects = append(effects, randomEffect(t, random))
				effects[len(effects)-1].From = []chains.Party{{}, chains.SignerParty(), party(t, treasury), party(t, thief)}[random.IntN(4)]
				if random.IntN(4) == 0 {
					effects = append(effects, received(t, random))
				}
			}
			asked := ask(effects...)
			asked.Hazards = randomHazards(random)
			got, err := file.Decide(t.Context(), asked)
			want, wantErr := plain.Decide(t.Context(), asked)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || errors.Is(err, access.ErrDenied) != (err != nil) || !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v, %v\nplain: %+v, %v\n%s\n%+v", got, err, want, wantErr, text.String(), asked)
			}
			decided[err == nil]++
			explained, err := file.Explain(t.Context(), asked)
			plainly, plainErr := plain.Explain(t.Context(), asked)
			if err != nil || plainErr != nil || !reflect.DeepEqual(explained, plainly) {
				t.Fatalf("%v, %v\nplain: %v, %v\n%s\n%+v", explained, err, plainly, plainErr, text.String(), asked)
			}
		}
	}
	if decided[true] < 200 || decided[false] < 500 || quick < 500 {
		t.Errorf("decided %v, with %d clauses that need no program: too few to say anything", decided, quick)
	}
}

// received is what an account receives.
func received(t testing.TB, random *rand.Rand) chains.Effect {
	effect := randomEffect(t, random)
	effect.Kind, effect.Change, effect.Undecoded = chains.KindReceive, false, false
	effect.Amount = chains.Exactly(big.NewInt(random.Int64N(6)))
	return effect
}

// TestStepsAreBounded: whatever a file asks, a request takes a bounded number of steps. One that
// takes more is denied, also if a rule after the costly ones would allow it, and on every node.
func TestStepsAreBounded(t *testing.T) {
	costly := func(condition string, rules int) string {
		var text strings.Builder
		text.WriteString(head + "rules:\n")
		for i := range rules {
			fmt.Fprintf(&text, "  - {name: r%d, allow: transfer, approvals: [{count: 2}], when: %q}\n", i, fmt.Sprintf(condition, i+1))
		}
		return text.String() + "  - {name: last, allow: transfer, when: effect.asset == usdc && effect.to in treasury}\n"
	}
	const pairs = "effects.exists(e, e.kind == 'mint' && e.amount > effect.amount) || effect.amount < amount(usdc, '0.%06d')"
	_, err := policy.Parse("p.yaml", []byte(costly(pairs, 300)), options())
	if err == nil || !strings.Contains(err.Error(), "steps for a request of 32 effects, at most 2000000 are allowed") {
		t.Errorf("300 loops for each effect: %v", err)
	}
	for condition, rules := range map[string]int{
		pairs: 50,
		"effect.from == effect.to || effect.amount <= amount(usdc, '0.%06d')":                                                       300,
		"effect.bound in ['most', 'least', 'all', 'added', 'unlimited', 'most', 'least'] || effect.amount < amount(usdc, '0.%06d')": 300,
	} {
		file := load(t, costly(condition, rules))
		if most := file.Effects(); most < 32 || most == chains.MaxEffects {
			t.Fatalf("%s: %d rules judge %d effects", condition, rules, most)
		}
		if _, err := file.Decide(t.Context(), payouts(t, file.Effects())); err != nil {
			t.Errorf("%s: what the file can judge: %v", condition, err)
		}
		asked := payouts(t, chains.MaxEffects)
		var first string
		for range 2 {
			_, err := file.Decide(t.Context(), asked)
			if !errors.Is(err, access.ErrDenied) || !strings.Contains(err.Error(), "more than 2000000 steps") || first != "" && err.Error() != first {
				t.Fatalf("%s, %d rules: %v", condition, rules, err)
			}
			first = err.Error()
		}
		explained, err := file.Explain(t.Context(), payouts(t, chains.MaxEffects))
		if err != nil || explained.Refusal != first {
			t.Errorf("%s: explained as %q, %v", condition, explained.Refusal, err)
		}
	}
	for _, cheap := range []string{"request.total(usdc) <= amount(usdc, '0.%06d')", "effects.exists(e, e.kind == 'mint' && e.amount >= amount(usdc, '0.%06d'))",
		"user.tags.exists(tag, tag == 'x%d')"} {
		file := load(t, costly(cheap, 100))
		if _, err := file.Decide(t.Context(), payouts(t, chains.MaxEffects)); err != nil || file.Effects() != chains.MaxEffects {
			t.Errorf("%s, which is asked once: %v, %d effects", cheap, err, file.Effects())
		}
	}
}
