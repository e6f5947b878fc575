package policy_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
)

// Addresses of the tests.
const (
	treasury = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	thief    = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"
	usdc     = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
)

// head is the beginning of the tests' files.
const head = `schema: countersign.policy/2
lists:
  treasury: ["` + treasury + `"]
assets:
  usdc: {chain: "eip155:1", token: "` + usdc + `", decimals: 6}
`

// options are those of a file about the five chains and messages.
func options() policy.Options {
	return policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)}
}

func withNames(names *policy.Names) policy.Options {
	options := options()
	options.Names = names
	return options
}

func load(t testing.TB, text string) *policy.File {
	t.Helper()
	file, err := policy.Parse("policy.yaml", []byte(text), options())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return file
}

// party returns an Ethereum address as a party.
func party(t testing.TB, text string) chains.Party {
	t.Helper()
	bytes, ok := new(big.Int).SetString(strings.TrimPrefix(text, "0x"), 16)
	if !ok {
		t.Fatalf("%s is no address", text)
	}
	return chains.PartyWritten(bytes.FillBytes(make([]byte, 20)), text)
}

func ether(t testing.TB, to string, wei int64) chains.Effect {
	return chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: party(t, to), Asset: chains.Native("eip155:1"), Amount: chains.Exactly(big.NewInt(wei))}
}

func tokens(t testing.TB, to string, amount chains.Quantity) chains.Effect {
	return chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: party(t, to), Amount: amount,
		Asset: chains.Token("eip155:1", party(t, usdc), "erc20")}
}

func ask(effects ...chains.Effect) access.Authorization {
	asked := access.Authorization{
		Organization: &access.Organization{ID: "org"},
		User:         access.User{ID: "u-1", Name: "bot", Tags: []string{"agent"}},
		Intent:       activity.SignTransactionIntent{},
		Keys:         []access.SigningKey{{ID: "k-1", Name: "hot-1"}},
		Effects:      effects,
		Now:          time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC),
	}
	about(&asked, "ethereum", chains.Integer("chain", 1).As("chain_id"))
	return asked
}

// about sets what a request signs: something of a chain, with the fields of its summary.
func about(asked *access.Authorization, chain string, fields ...chains.Field) {
	asked.Chain = chain
	asked.Summary = func() *chains.Summary { return &chains.Summary{Chain: chain, Effects: asked.Effects, Fields: fields} }
}

// decide returns a file's decision: the names of the rules, or the refusal.
func decide(t *testing.T, text string, asked access.Authorization) (string, access.Decision) {
	t.Helper()
	decision, err := load(t, text).Decide(t.Context(), asked)
	if err != nil && !errors.Is(err, access.ErrDenied) {
		t.Fatal(err)
	}
	if err != nil {
		return err.Error(), decision
	}
	return "allowed by " + strings.Join(decision.Rules, ","), decision
}

const pays = "rules:\n  - {name: pays, allow: transfer, when: effect.to in treasury}\n  - {name: usd, allow: transfer, when: 'effect.asset == usdc && effect.to in treasury'}\n"

// TestCoverage is rule 1: a request is allowed only if each of its effects is covered.
func TestCoverage(t *testing.T) {
	fee := chains.Effect{Kind: chains.KindFee, By: chains.BySigner, Asset: chains.Native("eip155:1"), Amount: chains.AtMost(big.NewInt(1))}
	blind := chains.Effect{Kind: chains.KindCall, By: chains.BySigner, To: party(t, treasury), Undecoded: true}
	other := ether(t, thief, 5)
	other.By = chains.ByOther
	standing := ether(t, thief, 5)
	standing.By = chains.ByStanding
	change := ether(t, thief, 5)
	change.Change = true
	returned := ether(t, treasury, 5)
	returned.Change = true
	for name, test := range map[string]struct {
		effects []chains.Effect
		want    string
	}{
		"covered":            {[]chains.Effect{ether(t, treasury, 5)}, "allowed"},
		"none":               {nil, "no effect of this request"},
		"one is not":         {[]chains.Effect{ether(t, treasury, 5), ether(t, thief, 1)}, "effect 1 (transfer to " + thief + ") is not covered"},
		"another kind":       {[]chains.Effect{ether(t, treasury, 5), fee}, "effect 1 (fee) is not covered"},
		"a call":             {[]chains.Effect{ether(t, treasury, 5), blind}, "not decoded) is not covered"},
		"by another":         {[]chains.Effect{ether(t, treasury, 5), other}, "allowed"},
		"by another alone":   {[]chains.Effect{other}, "no effect of this request"},
		"standing":           {[]chains.Effect{standing}, "is not covered"},
		"change":             {[]chains.Effect{ether(t, treasury, 5), change}, "allowed"},
		"change alone":       {[]chains.Effect{change}, "effect 0 (transfer to " + thief + ") is not covered"},
		"change alone, ours": {[]chains.Effect{returned}, "allowed"},
		"unknown recipient":  {[]chains.Effect{{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.UnknownParty()}}, "effect.to is unknown"},
		"the signer, unsaid": {[]chains.Effect{{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.SignerParty()}}, "effect.to is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := decide(t, head+pays, ask(test.effects...)); !strings.Contains(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestErrorDenies is rule 2, on both sides of && and ||, in macros and in conditional
// expressions.
func TestErrorDenies(t *testing.T) {
	unknown := chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.UnknownParty(),
		Asset: chains.Native("eip155:1"), Amount: chains.Exactly(big.NewInt(1))}
	unlimited := tokens(t, treasury, chains.Unlimited(nil))
	for _, test := range []struct {
		when   string
		effect chains.Effect
		allow  bool // what a deny with this condition lets through
	}{
		{"effect.to in treasury", unknown, false},
		{"!(effect.to in treasury)", unknown, false},
		{"effect.to == address('" + thief + "')", unknown, false},
		{"effect.to != address('" + thief + "')", unknown, false},
		{"effect.to in treasury && effect.function == 'fee'", unknown, false},
		{"effect.kind == 'transfer' && effect.to in treasury", unknown, false},
		{"effect.to in treasury || effect.kind == 'transfer'", unknown, false},
		{"effects.exists(e, e.to in treasury)", unknown, false},
		{"effects.all(e, e.to in treasury)", unknown, false},
		{"effects.filter(e, e.to in treasury).size() > 0", unknown, false},
		{"effects[3].kind == 'fee'", unknown, false},
		{"effect.amount > ether('1')", unlimited, false},
		{"effect.asset == usdc && effect.amount > amount(usdc, '1')", unlimited, false},
		{"has(effect.to) && effect.to in treasury", unknown, true},
		{"effect.unlimited ? false : effect.amount > units('5')", unlimited, true},
		{"effect.by == 'other'", unknown, true},
		{"effect.amount > ether('1')", tokens(t, treasury, chains.Exactly(big.NewInt(5))), false}, // unlike assets
		{"effect.asset.native && effect.amount > ether('1')", tokens(t, treasury, chains.Exactly(big.NewInt(5))), true},
	} {
		t.Run(test.when, func(t *testing.T) {
			// The other rules use the list and the asset.
			rest := "  - {name: rest, allow: [transfer, fee], when: '!(has(effect.to) && has(effect.amount) && effect.asset == usdc && effect.to in treasury && effect.kind == \"burn\")'}\n"
			deny := "rules:\n  - name: no\n    deny: transfer\n    when: " + quoted(test.when) + "\n" + rest
			got, _ := decide(t, head+deny, ask(test.effect))
			if allowed := strings.HasPrefix(got, "allowed"); allowed != test.allow {
				t.Errorf("a deny: %s", got)
			}
			if test.allow {
				return
			}
			allow := "rules:\n  - name: yes\n    allow: transfer\n    when: " + quoted(test.when) + "\n" + "  - {name: never, deny: fee, when: 'effect.asset == usdc && effect.to in treasury'}\n"
			if got, _ := decide(t, head+allow, ask(test.effect)); strings.HasPrefix(got, "allowed") {
				t.Errorf("an allow: %s", got)
			}
		})
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

const limited = head + `limits:
  - {name: day, asset: usdc, max: "100", window: 24h, per: key}
rules:
  - {name: small, allow: [transfer, approve], when: effect.to in treasury, limit: day}
  - {name: one, allow: transfer, when: effect.to in treasury, approvals: [{count: 1, tag: finance}]}
  - {name: two, allow: [transfer, approve], when: effect.to in treasury, approvals: [{count: 2, tag: finance, not: submitter}]}
`

type spent int64

func (s spent) Spent(context.Context, string, store.Charge) (*big.Int, time.Time, error) {
	return big.NewInt(int64(s)), time.Time{}, nil
}

// TestLimitsOfOneRequest: the effects of a request are summed, an unbounded amount exceeds
// every limit, and after an exceeded limit only rules with at least as many approvals are
// considered.
func TestLimitsOfOneRequest(t *testing.T) {
	usd := func(units int64) chains.Effect { return tokens(t, treasury, chains.Exactly(big.NewInt(units))) }
	approve := tokens(t, treasury, chains.Unlimited(nil))
	approve.Kind = chains.KindApprove
	for name, test := range map[string]struct {
		effects []chains.Effect
		spent   int64
		want    string
		charged int64
	}{
		"within":             {[]chains.Effect{usd(100e6)}, 0, "allowed by small", 100e6},
		"a unit over":        {[]chains.Effect{usd(100e6 + 1)}, 0, "allowed by one", 0},
		"with what was":      {[]chains.Effect{usd(60e6)}, 40e6, "allowed by small", 60e6},
		"over what was":      {[]chains.Effect{usd(60e6)}, 40e6 + 1, "allowed by one", 0},
		"two effects":        {[]chains.Effect{usd(50e6), usd(50e6)}, 0, "allowed by small", 100e6},
		"two effects over":   {[]chains.Effect{usd(50e6), usd(50e6 + 1)}, 0, "allowed by small,one", 50e6},
		"unlimited":          {[]chains.Effect{approve}, 0, "allowed by two", 0},
		"unknown amount":     {[]chains.Effect{tokens(t, treasury, chains.UnknownQuantity())}, 0, "allowed by one", 0},
		"another asset":      {[]chains.Effect{ether(t, treasury, 1)}, 0, "allowed by one", 0},
		"another's, at rest": {[]chains.Effect{usd(1)}, 100e6, "allowed by one", 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked := ask(test.effects...)
			asked.Spent = spent(test.spent)
			got, decision := decide(t, limited, asked)
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			sum := new(big.Int)
			for _, charge := range decision.Charges {
				sum.Add(sum, charge.Amount)
				if charge.Limit != "day" || charge.Subject != "k-1" || charge.Max.Int64() != 100e6 || charge.Window != 24*time.Hour || charge.Unit != "usdc" || charge.Decimals != 6 {
					t.Errorf("%+v", charge)
				}
			}
			if sum.Int64() != test.charged || len(decision.Charges) > 1 {
				t.Errorf("charged %v in %d charges, want %d", sum, len(decision.Charges), test.charged)
			}
		})
	}
}

// TestApprovalsAfterLimit: after a rule whose limit is exceeded, rules that need fewer
// approvals do not apply.
func TestApprovalsAfterLimit(t *testing.T) {
	file := strings.Replace(limited, "limit: day}", "limit: day, approvals: [{count: 2, tag: finance}]}", 1)
	asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(1))))
	asked.Spent = spent(100e6)
	if got, _ := decide(t, file, asked); got != "allowed by two" {
		t.Error(got)
	}
	if got, _ := decide(t, strings.Split(file, "  - {name: two")[0], asked); !strings.Contains(got, "limit day of rule small: 0.000001 usdc is requested, 0 of 100 usdc is left") {
		t.Error(got)
	}
}

// TestApprovals: a request needs the approval groups of every rule that decides one of its
// effects, and a user counts once in each group.
func TestApprovals(t *testing.T) {
	const file = head + `rules:
  - {name: usd, allow: transfer, when: 'effect.asset == usdc && effect.to in treasury', approvals: [{count: 2, tag: finance, not: submitter}]}
  - {name: native, allow: transfer, when: effect.asset.native, approvals: [{count: 1, tag: ops}]}
`
	_, decision := decide(t, file, ask(ether(t, thief, 1), tokens(t, treasury, chains.Exactly(big.NewInt(1))), ether(t, thief, 2)))
	if len(decision.Approvals) != 2 {
		t.Fatalf("%+v", decision.Approvals)
	}
	now := time.Now()
	vote := func(id string, at time.Duration, tags ...string) access.Vote {
		return access.Vote{User: access.User{ID: id, Tags: tags}, At: now.Add(at)}
	}
	finance := decision.Approvals[1]
	for name, test := range map[string]struct {
		votes []access.Vote
		want  int
	}{
		"none":            {nil, 2},
		"one":             {[]access.Vote{vote("a", 0, "finance")}, 1},
		"the same twice":  {[]access.Vote{vote("a", 0, "finance"), vote("a", 0, "finance")}, 1},
		"two":             {[]access.Vote{vote("a", 0, "finance"), vote("b", 0, "finance")}, 0},
		"the submitter":   {[]access.Vote{vote("u-1", 0, "finance"), vote("b", 0, "finance")}, 1},
		"without the tag": {[]access.Vote{vote("a", 0, "ops"), vote("b", 0, "finance")}, 1},
		"too old":         {[]access.Vote{vote("a", -25*time.Hour, "finance"), vote("b", 0, "finance")}, 1},
	} {
		if got := access.Missing([]access.Group{finance}, test.votes, "u-1", now)[0]; got != test.want {
			t.Errorf("%s: %d votes are missing, want %d", name, got, test.want)
		}
	}
}

// TestWho: clauses about users, and their combinations.
func TestWho(t *testing.T) {
	for who, want := range map[string]bool{
		"{user: bot}": true, "{user: [ann, bot]}": true, "{user: ann}": false, "{tag: agent}": true, "{tag: ops}": false,
		"{user: bot, tag: ops}": false, "{any: [{tag: ops}, {user: bot}]}": true, "{all: [{tag: ops}, {user: bot}]}": false,
		"{not: {tag: ops}}": true, "{not: {any: [{tag: agent}]}}": false, "{credential: nothing}": false,
	} {
		file := head + "rules:\n  - {name: a, allow: transfer, who: " + who + ", when: 'effect.asset == usdc && effect.to in treasury'}\n"
		got, _ := decide(t, file, ask(tokens(t, treasury, chains.Exactly(big.NewInt(1)))))
		if allowed := strings.HasPrefix(got, "allowed"); allowed != want {
			t.Errorf("%s: %s", who, got)
		}
	}
}

// TestNamesResolveToIDs: if users and keys are known, names in rules resolve to ids as the file
// loads. A user or key named like another's id does not match, and a later name changes nothing.
func TestNamesResolveToIDs(t *testing.T) {
	const text = head + "rules:\n  - {name: a, allow: transfer, who: {user: ann}, key: hot-1, when: 'effect.asset == usdc && effect.to in treasury'}\n"
	names := &policy.Names{
		Users: []access.User{{ID: "u-eve", Name: "u-ann"}, {ID: "u-ann", Name: "ann"}},
		Keys:  []access.SigningKey{{ID: "k-1", Name: "hot-1"}, {ID: "k-2", Name: "k-1"}},
	}
	file, err := policy.Parse("p", []byte(text), withNames(names))
	testenv.Must(t, err)
	if user, ok := file.User("u-ann"); !ok || user.Name != "ann" {
		t.Errorf("User by id: %+v, %v", user, ok)
	}
	renamed := []access.User{{ID: "u-ann", Name: "renamed"}, {ID: "u-2", Name: "ann"}}
	for _, user := range append(renamed, names.Users...) {
		for _, key := range names.Keys {
			asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(1))))
			asked.User, asked.Keys = user, []access.SigningKey{key}
			_, err := file.Decide(t.Context(), asked)
			if want := user.ID == "u-ann" && key.ID == "k-1"; want != (err == nil) {
				t.Errorf("%s with %s: %v", user.ID, key.ID, err)
			}
		}
	}
	asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(1))))
	asked.User, asked.Keys = names.Users[1], names.Keys
	if _, err := file.Decide(t.Context(), asked); err == nil {
		t.Error("a second key that the rule does not name may sign too")
	}
}

// TestMessageAddresses: an address in a message's effect that names no chain gets its
// namespace from its size, so that a deny still matches.
func TestMessageAddresses(t *testing.T) {
	asked := ask(chains.Effect{Kind: chains.KindMessage, By: chains.BySigner, To: party(t, treasury)})
	about(&asked, "")
	const file = head + "rules:\n  - {name: no, deny: [message, transfer], when: 'effect.to in treasury || effect.asset == usdc'}\n  - {name: all, allow: message}\n"
	if got, _ := decide(t, file, asked); !strings.Contains(got, "rule no denies") {
		t.Error(got)
	}
}
