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
)

// growing is a file of different rules about tokens, of which the last one alone allows.
func growing(rules int) string {
	var text strings.Builder
	text.WriteString(head + "rules:\n")
	for i := range rules {
		fmt.Fprintf(&text, "  - {name: r%d, allow: transfer, when: \"effect.asset == usdc && effect.to in treasury && effect.amount <= amount(usdc, '0.%05d')\"}\n", i, i+1)
	}
	text.WriteString("  - {name: last, allow: transfer, when: \"effect.asset == usdc && effect.to in treasury && effect.amount <= amount(usdc, '1000')\"}\n")
	return text.String()
}

func payouts(t testing.TB, count int) access.Authorization {
	var effects []chains.Effect
	for i := range count {
		effects = append(effects, tokens(t, treasury, chains.Exactly(big.NewInt(900_000+int64(i)))))
	}
	return ask(effects...)
}

// BenchmarkParseGrowing parses 900 different rules.
func BenchmarkParseGrowing(b *testing.B) {
	for text := growing(900); b.Loop(); {
		load(b, text)
	}
}

// BenchmarkDecideGrowing decides about the most effects that a transaction has, by 900 different
// rules: as they are, and by the programs of their conditions alone.
func BenchmarkDecideGrowing(b *testing.B) {
	file := load(b, growing(900))
	asked := payouts(b, chains.MaxEffects)
	for name, judge := range map[string]access.Decider{"quick": file, "plain": file.Plain()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := judge.Decide(b.Context(), asked); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
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
	for range 120 {
		var text strings.Builder
		text.WriteString(head + "rules:\n  - {name: uses, deny: mint, when: 'effect.asset == usdc && effect.to in treasury'}\n")
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
