package policy_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/policy"
)

// toy is a chain that no package of this module knows.
type toy struct {
	ethereum.Chain
	words chains.Words
}

func (toy) Name() string { return "toy" }

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
`

// TestToyChain checks that policies work for a chain of which nothing is known but its words,
// and that a chain that they do not know is refused by name.
func TestToyChain(t *testing.T) {
	give := func(to string, amount int64) chains.Effect {
		return chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyWritten([]byte(to), "@"+to),
			Asset: chains.Native("toy"), Amount: chains.Exactly(big.NewInt(amount))}
	}
	fields := []chains.Field{chains.Text("memo", "gift"), chains.AmountUint("what it costs", 7, 3, "TOY").As("price"),
		chains.List("who", chains.AddressField("owner", "@ownerown")),
		chains.List("move 1", chains.Integer("number", 4)), chains.List("move 2", chains.Integer("number", 5))}
	judged := func(t *testing.T, effect chains.Effect, fields []chains.Field) string {
		asked := ask(effect)
		asked.Summary = &chains.Summary{Chain: "toy", Fields: fields}
		got, _ := decide(t, toyPolicy, asked)
		return got
	}
	other, _ := decide(t, head+pays, ask(ether(t, treasury, 1)))
	if !strings.HasPrefix(other, "allowed") {
		t.Fatal(other)
	}
	t.Run("known", func(t *testing.T) {
		policy.WithChain(t, toy{words: toyWords()})
		if got := judged(t, give("franzi00", 1500), fields); !strings.HasPrefix(got, "allowed") {
			t.Error(got)
		}
		for name, got := range map[string]string{
			"a stranger":   judged(t, give("stranger", 1500), fields),
			"too much":     judged(t, give("franzi00", 1501), fields),
			"another memo": judged(t, give("franzi00", 1500), append([]chains.Field{chains.Text("memo", "theft")}, fields[1:]...)),
			"no details":   judged(t, give("franzi00", 1500), nil),
		} {
			if strings.HasPrefix(got, "allowed") {
				t.Errorf("%s: %s", name, got)
			}
		}
		if loads(strings.Replace(toyPolicy, "@franzi00", "@franzi", 1)) {
			t.Error("a short address is accepted")
		}
	})
	asked := ask(give("franzi00", 1))
	asked.Summary = &chains.Summary{Chain: "toy"}
	if got, _ := decide(t, head+pays, asked); !strings.Contains(got, "a policy file cannot judge the chain toy") {
		t.Error(got)
	}
	if loads(toyPolicy) {
		t.Error("a policy about an unknown chain is accepted")
	}
}

// TestContradictingWords checks that a program does not start with a chain whose words leave
// policies without an answer, or contradict those of another chain.
func TestContradictingWords(t *testing.T) {
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
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			policy.WithChain(t, toy{words: words})
		}()
	}
	policy.WithChain(t, toy{words: toyWords()})
}
