package policy_test

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
)

// TestDocumentedPolicies loads the policies in the documentation, which runs their tests. None
// has a warning, and none takes exists for a guarantee.
func TestDocumentedPolicies(t *testing.T) {
	found := testenv.SamplePolicies(t)
	if len(found) != 17 {
		t.Errorf("%d policies, want 17", len(found))
	}
	for name, text := range found {
		t.Run(name, func(t *testing.T) {
			file, err := policy.Parse("policy.yaml", []byte(text), options())
			testenv.Must(t, err)
			if file.Tests() < 2 {
				t.Errorf("%d tests", file.Tests())
			}
			for _, warning := range file.Warnings() {
				t.Errorf("%s", file.RenderProblem(warning))
			}
			if regexp.MustCompile(`allow:[^\n]*\.exists\(`).MatchString(text) {
				t.Error("exists is no guarantee about the effect that is allowed")
			}
		})
	}
}

// ledger counts what was charged.
type ledger map[string]*big.Int

// Spent implements access.SpentReader.
func (l ledger) Spent(_ context.Context, _ string, charge store.Charge) (*big.Int, time.Time, error) {
	if sum, ok := l[charge.Limit+charge.Subject]; ok {
		return sum, time.Time{}, nil
	}
	return new(big.Int), time.Time{}, nil
}

// lines returns the texts that a pattern finds in a policy, each once, and an empty one.
func lines(text, pattern string) []string {
	found := map[string]bool{"": true}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// TestDocumentedPoliciesRobbed tries each policy with each of its users and keys, 20 times in a
// row: a fee for nothing, for others, for change or for what is received; payments of nothing, of
// one unit and in parts to everybody that the policy names. What is signed is charged to a limit,
// or waits for approvals.
func TestDocumentedPoliciesRobbed(t *testing.T) {
	for name, text := range testenv.SamplePolicies(t) {
		t.Run(name, func(t *testing.T) {
			file, signed := load(t, text), 0
			try := func(asked access.Authorization, alone bool) {
				spent := ledger{}
				asked.Spent = spent
				for range 20 {
					decision, err := file.Decide(t.Context(), asked)
					if err != nil && !errors.Is(err, access.ErrDenied) {
						t.Fatal(err)
					}
					if err != nil || len(decision.Approvals) > 0 {
						return
					}
					signed++
					if alone && name != "A sponsor on Tempo" {
						t.Errorf("a fee for nothing is paid by %v, for %s with %s: %+v", decision.Rules, asked.User.Name, asked.Keys[0].Name, asked.Effects)
					}
					charged, moved := new(big.Int), new(big.Int)
					for _, charge := range decision.Charges {
						charged.Add(charged, charge.Amount)
						before, _, _ := spent.Spent(t.Context(), "", charge)
						spent[charge.Limit+charge.Subject] = new(big.Int).Add(before, charge.Amount)
					}
					for _, effect := range asked.Effects {
						if effect.By == chains.BySigner && effect.Kind.Spends() {
							moved.Add(moved, effect.Amount.Value)
						}
					}
					if charged.Cmp(moved) < 0 {
						t.Errorf("%s moves %v and is charged %v by %v: %+v", asked.User.Name, moved, charged, decision.Rules, asked.Effects)
					}
				}
			}
			for _, request := range robberies(t, text) {
				for _, key := range lines(text, `key: \[([\w-]+)`) {
					for _, user := range lines(text, `user: ([\w-]+)`) {
						for _, tag := range lines(text, `who: \{tag: ([\w-]+)`) {
							asked := ask(request.effects...)
							asked.Chain, asked.Keys = request.chain, []access.SigningKey{{ID: key, Name: key}}
							asked.User = access.User{ID: user, Name: user, Tags: []string{tag}}
							try(asked, request.alone)
						}
					}
				}
			}
			t.Logf("%d signed", signed)
		})
	}
}

// robbery is a request that a thief may try; alone if it has no purpose but a fee.
type robbery struct {
	chain   string
	alone   bool
	effects []chains.Effect
}

// robberies returns requests with the assets and the recipients that a policy names.
func robberies(t *testing.T, text string) (list []robbery) {
	t.Helper()
	parties := []chains.Party{}
	for _, address := range lines(text, `["\s\[](0x[0-9a-fA-F]{40}|bc1q\w+|1\w{33}|T\w{33}|[1-9A-HJ-NP-Za-km-z]{43,44})["\s\],}]`)[1:] {
		for _, chain := range chainsOfPolicies {
			if raw, ok, err := chain.Words().ReadAddress(address); ok && err == nil {
				parties = append(parties, chains.PartyWritten(raw, address))
			}
		}
	}
	for _, network := range []struct{ chain, id, token string }{
		{"ethereum", "eip155:1", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"}, {"ethereum", "eip155:8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
		{"ethereum", "eip155:11155111", ""}, {"ethereum", "eip155:84532", ""}, {"tempo", "eip155:4217", "0x20C0000000000000000000000000000000000000"},
		{"solana", "solana", ""}, {"tron", "tron", ""}, {"bitcoin", "bip122", ""},
	} {
		assets := []chains.Asset{chains.Native(network.id)}
		if network.token != "" {
			assets = append(assets, chains.Token(network.id, party(t, network.token), "erc20"))
		}
		for _, asset := range assets {
			effect := func(kind chains.Kind, by chains.By, to chains.Party, amount uint64) chains.Effect {
				return chains.Effect{Kind: kind, By: by, To: to, Asset: asset, Amount: chains.ExactlyUint(amount), Controlled: chains.ControlledNo}
			}
			for _, gas := range assets {
				fee := chains.Effect{Kind: chains.KindFee, By: chains.BySigner, Asset: gas, Amount: chains.ExactlyUint(1)}
				list = append(list, robbery{network.chain, true, []chains.Effect{fee}})
				for _, to := range parties {
					change := effect(chains.KindTransfer, chains.BySigner, to, 5)
					change.Change, change.Controlled = true, chains.ControlledYes
					list = append(list, robbery{network.chain, true, []chains.Effect{effect(chains.KindTransfer, chains.ByOther, to, 1), fee}},
						robbery{network.chain, true, []chains.Effect{effect(chains.KindReceive, chains.ByOther, to, 1), fee}},
						robbery{network.chain, false, []chains.Effect{change, fee}})
					for _, amount := range []uint64{0, 1, 1000, 1e6, 1e9} {
						pay := effect(chains.KindTransfer, chains.BySigner, to, amount)
						list = append(list, robbery{network.chain, false, []chains.Effect{pay, fee}}, robbery{network.chain, false, []chains.Effect{pay, pay, pay}})
					}
				}
			}
		}
	}
	return list
}

// chainsOfPolicies are those whose addresses policies have.
var chainsOfPolicies = all.Chains(all.Limits{})
