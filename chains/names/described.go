package names

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// Described returns effects as people are told them, each with its sentence. Of a list of
// transactions, what the same recipient gets of the same asset is one sum, and each sentence ends
// with the transactions that it is about; changes of settings, such as of durable nonces, come last.
// Other effects are returned as they are.
func Described(effects []chains.Effect, names chains.Names) (sums []chains.Effect, sentences []string) {
	if len(effects) == 0 || !strings.HasPrefix(effects[0].Payload(), transaction+" ") {
		return effects, Sentences(effects, names)
	}
	var first, settings []chains.Effect
	for _, effect := range effects {
		if effect.Kind == chains.KindSettings {
			settings = append(settings, effect)
			continue
		}
		first = append(first, effect)
	}
	effects = slices.Concat(first, settings)
	units := slices.Clone(effects) // effects whose sentences are the same differ in the amount alone
	for i := range units {
		if addsUp(&units[i]) {
			units[i].Amount.Value = big.NewInt(1)
		}
	}
	type key struct{ sentence, asset, to string }
	places, in := map[key]int{}, [][]string(nil)
	for i, sentence := range Sentences(units, names) {
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
	sentences = Sentences(sums, names)
	for i := range sentences {
		sentences[i] += " (" + transactions(in[i]) + ")"
	}
	return sums, sentences
}

// addsUp reports whether the amounts of effects like this one can be added.
func addsUp(effect *chains.Effect) bool {
	return (effect.Kind == chains.KindTransfer || effect.Kind == chains.KindFee) && effect.Asset.NFT == nil &&
		effect.Amount.Value != nil && effect.Amount.Bound != chains.BoundUnlimited
}

const transaction = "transaction"

// maxNumbers is how many transactions a sentence names.
const maxNumbers = 8

// transactions names transactions of a list by their indexes.
func transactions(numbers []string) string {
	switch {
	case len(numbers) == 1:
		return transaction + " " + numbers[0]
	case len(numbers) > maxNumbers:
		return fmt.Sprintf("%s and %d more", transactions(numbers[:maxNumbers]), len(numbers)-maxNumbers)
	}
	return transaction + "s " + strings.Join(numbers, ", ")
}
