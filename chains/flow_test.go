package chains_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// followed reads effects of one line each: who authorizes ("us", "other", "standing"), from, to, an
// amount, the asset, and "passage" if the recipient is one. Amounts are a number, "all", "<n" for at
// most and ">n" for at least.
func followed(t *testing.T, chain string, lines ...string) (effects []chains.Effect) {
	t.Helper()
	by := map[string]chains.By{"us": chains.BySigner, "other": chains.ByOther, "standing": chains.ByStanding}
	for _, line := range lines {
		words := strings.Fields(line)
		e := chains.Effect{Kind: chains.KindTransfer, By: by[words[0]], From: named(words[1]), To: named(words[2]), Asset: chains.Native(chain),
			Passage: slices.Contains(words, "passage")}
		if e.By == chains.ByOther {
			e.OtherSigner = e.From
		}
		amount, _ := new(big.Int).SetString(strings.TrimLeft(words[3], "<>"), 10)
		switch {
		case words[3] == "all":
			e.Amount = chains.All()
		case words[3][0] == '<':
			e.Amount = chains.AtMost(amount)
		case words[3][0] == '>':
			e.Amount = chains.AtLeast(amount)
		default:
			e.Amount = chains.Exactly(amount)
		}
		switch words[4] {
		case "coin":
		case "blind":
			e = chains.Effect{Kind: chains.KindCall, By: e.By, OtherSigner: e.OtherSigner, From: e.From, To: e.To, Undecoded: true}
		case "any":
			e.Asset = chains.UnknownAsset(chain)
		default:
			e.Asset = chains.Token(chain, named(words[4]), "token")
		}
		effects = append(effects, e)
	}
	return effects
}

func named(name string) chains.Party {
	return chains.PartyAt([]byte(name), &chains.Notation{Text: func(address []byte) string { return string(address) }})
}

// TestFollow checks what follows from effects together, whatever the chain.
func TestFollow(t *testing.T) {
	many := make([]string, 0, 2*chains.MaxPassages)
	for i := range chains.MaxPassages + 1 {
		many = append(many, "us us p"+string(rune('A'+i))+" 5 coin passage")
	}
	for name, c := range map[string]struct {
		chain   string
		effects []string
		want    []string // what is added
	}{
		"what we put in":                   {"solana", []string{"us us p 10 coin passage", "other p x 7 coin"}, []string{"us p x 7 coin"}},
		"no more than we put in":           {"solana", []string{"us us p 10 coin passage", "other p x 70 coin"}, []string{"us p x 10 coin"}},
		"all":                              {"solana", []string{"us us p 10 coin passage", "other p x all coin"}, []string{"us p x <10 coin"}},
		"all of all":                       {"solana", []string{"us us p all coin passage", "other p x all coin"}, []string{"us p x all coin"}},
		"twice":                            {"solana", []string{"us us p 10 coin passage", "other p x 7 coin", "other p y 7 coin"}, []string{"us p x 7 coin", "us p y 3 coin"}},
		"twice, where a call can fail":     {"eip155:1", []string{"us us p 10 coin passage", "other p x 7 coin", "other p y 7 coin"}, []string{"us p x 7 coin", "us p y 7 coin"}},
		"after our own that can fail":      {"eip155:1", []string{"us us p 10 coin passage", "us p x 10 coin", "other p y >0 coin"}, []string{"us p y <10 coin"}},
		"after our own":                    {"solana", []string{"us us p 10 coin passage", "us p x 10 coin", "other p y all coin"}, nil},
		"after an earlier permission":      {"solana", []string{"us us p 10 coin passage", "standing p x 10 coin", "other p y all coin"}, []string{"us p y <10 coin"}},
		"before we pay":                    {"solana", []string{"other p x 7 coin", "us us p 10 coin passage"}, nil},
		"another asset":                    {"solana", []string{"us us p 10 usdc passage", "other p x 7 coin"}, nil},
		"an asset that is not named":       {"solana", []string{"us us p 10 usdc passage", "other p x 7 any"}, []string{"us p x 7 usdc"}},
		"an unnamed one that leaves named": {"solana", []string{"us us p 10 any passage", "other p x 7 usdc"}, []string{"us p x 7 usdc"}},
		"home":                             {"solana", []string{"us us p 10 coin passage", "other p us 7 coin"}, nil},
		"in a row":                         {"solana", []string{"us us p 10 coin passage", "other p q 7 coin passage", "other q x 5 coin"}, []string{"us p q 7 coin", "us q x 5 coin"}},
		"back and out":                     {"solana", []string{"us us p 10 coin passage", "us p q 10 coin passage", "other q p 10 coin passage", "other p x 10 coin"}, []string{"us q p 10 coin", "us p x 10 coin"}},
		"of others":                        {"solana", []string{"other bob p 10 coin passage", "other p x 7 coin"}, nil},
		"of a holder":                      {"solana", []string{"us us bob 10 coin", "other bob x 7 coin"}, nil},
		"through a holder":                 {"solana", []string{"us us bob 10 coin", "other bob p 7 coin passage", "other p x 7 coin"}, nil},
		"a blind call of others":           {"solana", []string{"us us p 10 coin passage", "other bob program 0 blind", "us us q 10 coin"}, []string{"us bob program 0 blind"}},
		"one before we pay":                {"solana", []string{"other bob program 0 blind", "us us p 10 coin passage"}, nil},
		"one beside a holder":              {"solana", []string{"us us bob 10 coin", "other bob program 0 blind"}, nil},
		"one of ours":                      {"solana", []string{"us us p 10 coin passage", "us us program 0 blind"}, nil},
		"too many":                         {"solana", append(many, "other pA x 5 coin"), []string{"blind"}},
		"a circle":                         {"solana", []string{"us us p 10 coin passage", "other p q 7 coin passage", "other q p 5 coin passage"}, []string{"blind"}},
	} {
		effects := followed(t, c.chain, c.effects...)
		list, moved := chains.Follow(effects)
		if added := list[len(effects):]; len(added) != len(c.want) || len(moved) != len(c.want) {
			t.Errorf("%s: %d effects are added, want %q", name, len(added), c.want)
			continue
		}
		for i, e := range list[len(effects):] {
			if c.want[i] == "blind" {
				if !e.Undecoded || e.By != chains.BySigner || e.Function != chains.Unfollowed {
					t.Errorf("%s: %+v", name, e)
				}
				continue
			}
			want := followed(t, c.chain, c.want[i])[0]
			if !e.Passed || e.By != chains.BySigner || !e.OtherSigner.IsNone() || !strings.HasPrefix(chains.Sentence(e, nil), chains.Sentence(want, nil)+", ") {
				t.Errorf("%s: %s, want %s", name, chains.Sentence(e, nil), c.want[i])
			}
		}
	}
}

// TestFollowCountsOnce checks that limits count money once, and what a deny sees.
func TestFollowCountsOnce(t *testing.T) {
	effects := followed(t, "solana", "us us p 10 coin passage", "other p q 7 coin passage", "other q x 5 coin", "other x y 4 coin", "other z y 4 coin")
	list, _ := chains.Follow(effects)
	var counted []string
	for i := range list {
		if list[i].By == chains.BySigner {
			counted = append(counted, list[i].Counted().Value.String())
		}
	}
	if !slices.Equal(counted, []string{"3", "2", "5"}) {
		t.Errorf("limits count %v", counted)
	}
	for i := range list {
		if want := i == 3; list[i].Reached != want {
			t.Errorf("effect %d: reached %v", i, list[i].Reached)
		}
	}
	if effects[0].Onward != nil || effects[3].Reached {
		t.Error("the effects themselves are changed")
	}
	if plain := followed(t, "solana", "us us x 10 coin", "us us y 10 coin"); &plain[0] != &must(chains.Follow(plain))[0] {
		t.Error("ordinary effects are copied")
	}
}

func must(list []chains.Effect, _ []int) []chains.Effect { return list }
