package signing

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
)

// Did implements operation.SigningTask. There is a signature already, so that
// it does not fail: if the keystore cannot say what is change, nothing is called change.
func (p *Prepared) Did(ctx context.Context, book chains.Names) *activity.Did {
	return did(ctx, p, book)
}

func did(ctx context.Context, task Task, book chains.Names) *activity.Did {
	effects, err := task.OwnEffects(ctx)
	if err != nil {
		effects = task.Claimed()
	}
	did := &activity.Did{KeyIDs: task.KeyIDs(), Addresses: task.Addresses()}
	effects, sentences := task.described(effects, book)
	if len(effects) > activity.MaxDidEffects {
		did.More = len(effects) - activity.MaxDidEffects
		effects = effects[:activity.MaxDidEffects]
	}
	did.Effects = make([]activity.DidEffect, len(effects))
	for i := range effects {
		did.Effects[i] = didEffect(&effects[i], book)
		did.Effects[i].Sentence = sentences[i]
	}
	return did
}

// described implements Task.
func (p *Prepared) described(effects []chains.Effect, book chains.Names) ([]chains.Effect, []string) {
	return effects, names.Sentences(effects, book)
}

// described implements Task. What the same recipient gets of the same asset is one sum. Each
// sentence says which transactions it is about.
func (l *List) described(effects []chains.Effect, book chains.Names) (sums []chains.Effect, sentences []string) {
	units := slices.Clone(effects) // differ in nothing but the amount if their sentences do not differ
	for i := range units {
		if addsUp(&units[i]) {
			units[i].Amount.Value = big.NewInt(1)
		}
	}
	type key struct{ sentence, asset, to string }
	places, in := map[key]int{}, [][]string(nil)
	for i, sentence := range names.Sentences(units, book) {
		effect, of := effects[i], key{sentence, units[i].Asset.Text(), units[i].To.String()}
		_, number, _ := strings.Cut(effect.Payload(), " ")
		place, there := places[of]
		if !there || !addsUp(&effect) {
			places[of] = len(sums)
			sums, in = append(sums, effect), append(in, []string{number})
			continue
		}
		sums[place].Amount.Value = new(big.Int).Add(sums[place].Amount.Value, effect.Amount.Value)
		if in[place][len(in[place])-1] != number {
			in[place] = append(in[place], number)
		}
	}
	sentences = names.Sentences(sums, book)
	for i := range sentences {
		sentences[i] += " (" + transactions(in[i]) + ")"
	}
	return sums, sentences
}

// addsUp reports whether amounts of effects like this one can be added.
func addsUp(effect *chains.Effect) bool {
	return (effect.Kind == chains.KindTransfer || effect.Kind == chains.KindFee) && effect.Asset.NFT == nil &&
		effect.Amount.Value != nil && effect.Amount.Bound != chains.BoundUnlimited
}

// maxNumbers is how many transactions a sentence names.
const maxNumbers = 8

// transactions names transactions of a list by their indexes.
func transactions(numbers []string) string {
	if len(numbers) == 1 {
		return "transaction " + numbers[0]
	}
	more := ""
	if len(numbers) > maxNumbers {
		more = fmt.Sprintf(" and %d more", len(numbers)-maxNumbers)
		numbers = numbers[:maxNumbers]
	}
	return "transactions " + strings.Join(numbers, ", ") + more
}

// didEffect returns the numbers of an effect.
func didEffect(effect *chains.Effect, book chains.Names) activity.DidEffect {
	did := activity.DidEffect{Kind: string(effect.Kind), Change: effect.Change, Asset: effect.Asset.Text()}
	if !effect.To.IsNone() {
		did.To = effect.To.String()
	}
	if effect.Amount.IsNone() {
		return did
	}
	if effect.Amount.Bound != chains.BoundExact {
		did.Bound = string(effect.Amount.Bound)
	}
	if effect.Amount.Value == nil {
		did.Bound = cmp.Or(did.Bound, "unknown")
		return did
	}
	did.Amount = effect.Amount.Value.String()
	if symbol, decimals, ok := chains.TokenOf(effect.Asset, book); ok {
		did.Symbol, did.Amount = symbol, chains.Decimal(did.Amount, decimals)
	}
	return did
}
