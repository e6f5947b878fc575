package policy_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// toy is a chain that no package of this module knows.
type toy struct {
	ethereum.Chain
	words chains.Words
}

func (toy) Name() string { return "toy" }

func (toy) HazardNames() []string { return []string{"toy/odd"} }

func (c toy) Words() chains.Words { return c.words }

// toyWords are the words of a chain whose addresses are @ and eight letters.
func toyWords() chains.Words {
	return chains.Words{Namespace: "toy", Decimals: 3, AddressSize: 8, Units: []chains.Unit{{Name: "grains"}, {Name: "toys", Decimals: 3}},
		ReadAddress: func(text string) ([]byte, bool, error) {
			name, ok := strings.CutPrefix(text, "@")
			if ok && len(name) != 8 {
				return nil, true, errors.New("a name has eight letters")
			}
			return []byte(name), ok, nil
		},
		Variable: "game", Details: []chains.Detail{
			{Name: "memo", Type: chains.TypeText},
			{Name: "price", Type: chains.TypeAmount},
			{Name: "owner", Type: chains.TypeAddress, Keys: []string{"who", "owner"}},
			{Name: "moves", Type: chains.TypeList, Each: "move_", Part: "move", Members: []chains.Detail{{Name: "number", Type: chains.TypeInteger}}},
			{Name: "gifts", Picks: func(e *chains.Effect) bool { return e.Kind == chains.KindTransfer }},
		}}
}

const toyPolicy = `schema: countersign.policy/2
lists:
  friends: ["@franzi00", "` + treasury + `"]
assets:
  coin: {chain: toy, token: native}
limits:
  - {name: daily, asset: coin, max: "2.5", window: 24h, per: key}
rules:
  - name: gives
    allow: transfer
    on: toy
    when: >-
      effect.to in friends && effect.amount <= toys('1.5') && game.tx.memo == 'gift' && game.tx.price == grains('7') &&
      game.tx.owner == address('@ownerown') && size(game.tx.moves) == 2 && game.tx.moves[1].number == 5 && size(game.tx.gifts) == 1
    limit: daily
    of: transactions
    hazards: [toy/odd]
tests:
  - {on: toy, effects: [{kind: transfer, to: "@franzi00", asset: coin, amount: "1"}], expect: deny}
`

// withToy are the options of a file about the toy chain and the five.
func withToy(words chains.Words) policy.Options {
	options := options()
	options.Chains = append(options.Chains, toy{words: words})
	return options
}

// TestToyChain checks that policies work for a chain of which nothing is known but its words,
// and that a chain that they do not know is refused by name.
func TestToyChain(t *testing.T) {
	file, err := policy.Parse("toy.yaml", []byte(toyPolicy), withToy(toyWords()))
	testenv.Must(t, err)
	give := func(to string, amount int64) chains.Effect {
		return chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyWritten([]byte(to), "@"+to),
			Asset: chains.Native("toy"), Amount: chains.Exactly(big.NewInt(amount))}
	}
	fields := []chains.Field{chains.Text("memo", "gift"), chains.AmountUint("what it costs", 7, 3, "TOY").As("price"),
		chains.List("who", chains.AddressField("owner", "@ownerown")),
		chains.List("move 1", chains.Integer("number", 4)), chains.List("move 2", chains.Integer("number", 5))}
	request := func(effect chains.Effect, fields []chains.Field, hazards ...string) access.Authorization {
		asked := ask(effect)
		about(&asked, "toy", fields...)
		for _, name := range hazards {
			asked.Hazards = append(asked.Hazards, chains.Hazard{Name: name})
		}
		return asked
	}
	decision, err := file.Decide(t.Context(), request(give("franzi00", 1500), fields, "toy/odd"))
	if err != nil || len(decision.Charges) != 1 || decision.Charges[0].Amount.Int64() != 1500 || len(decision.Hazards) != 1 {
		t.Errorf("%+v, %v", decision, err)
	}
	other := append([]chains.Field{chains.Text("memo", "theft")}, fields[1:]...)
	for name, asked := range map[string]access.Authorization{
		"a stranger":     request(give("stranger", 1500), fields),
		"too much":       request(give("franzi00", 1501), fields),
		"another memo":   request(give("franzi00", 1500), other),
		"no details":     request(give("franzi00", 1500), nil),
		"another hazard": request(give("franzi00", 1500), fields, "toy/other"),
	} {
		if _, err := file.Decide(t.Context(), asked); !errors.Is(err, access.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for memo, want := range map[string]string{"gift": "charges 1.5 of 2.5 to limit daily", "theft": `game.tx.memo is "theft"`} {
		fields[0] = chains.Text("memo", memo)
		if explained, err := file.Explain(t.Context(), request(give("franzi00", 1500), fields)); err != nil || !strings.Contains(explained.String(), want) {
			t.Errorf("%s: %v, %v", memo, explained, err)
		}
	}
	for old, wrong := range map[string]string{"@franzi00": "@franzi", "toy/odd": "toy/other", "coin: {chain: toy": "coin: {chain: toi"} {
		if _, err := policy.Parse("toy.yaml", []byte(strings.ReplaceAll(toyPolicy, old, wrong)), withToy(toyWords())); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
	if got, _ := decide(t, head+pays, request(give("franzi00", 1), nil)); !strings.Contains(got, "a policy file cannot judge the chain toy") {
		t.Error(got)
	}
	if loads(toyPolicy) {
		t.Error("a policy about an unknown chain is accepted")
	}
}

// TestContradictingWords: a file is not read with chains whose words leave it without an answer, or
// contradict those of another, nor with two of one name.
func TestContradictingWords(t *testing.T) {
	parse := func(options policy.Options) error {
		_, err := policy.Parse("p.yaml", []byte(head+pays), options)
		return err
	}
	for name, change := range map[string]func(*chains.Words){
		"no namespace":         func(w *chains.Words) { w.Namespace = "" },
		"no variable":          func(w *chains.Words) { w.Variable = "" },
		"another's variable":   func(w *chains.Words) { w.Variable = "eth" },
		"no addresses":         func(w *chains.Words) { w.ReadAddress = nil },
		"no units":             func(w *chains.Words) { w.Units = nil },
		"another's unit":       func(w *chains.Words) { w.Units = append(w.Units, chains.Unit{Name: "ether", Decimals: 18}) },
		"any units":            func(w *chains.Words) { w.Units = append(w.Units, chains.Unit{Name: "units"}) },
		"another's namespace":  func(w *chains.Words) { w.Namespace = "eip155" },
		"other decimals of it": func(w *chains.Words) { w.Namespace, w.Numbered, w.AddressSize = "eip155", true, 20 },
	} {
		words := toyWords()
		change(&words)
		if err := parse(withToy(words)); err == nil || !strings.Contains(err.Error(), "policy: Options.Chains: chain toy: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := withToy(toyWords())
	twice.Chains = append(twice.Chains, twice.Chains[0])
	for _, test := range []struct {
		options policy.Options
		want    string
	}{
		{withToy(toyWords()), ""},
		{twice, "policy: Options.Chains: ethereum is listed twice"},
		{policy.Options{Chains: []chains.Chain{nil}}, "policy: Options.Chains: chain 0 is nil"},
		{policy.Options{}, "policy: Options.Chains: none is listed"},
		{policy.Options{Chains: []chains.Chain{ethereum.New(ethereum.Limits{})}}, ""},
	} {
		if err := parse(test.options); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}
