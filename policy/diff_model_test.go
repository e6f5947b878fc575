package policy_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// drawnFile is a policy whose parts are drawn one by one, so that another can differ in some.
type drawnFile struct {
	lists  [2][]string
	limits [3]string
	rules  []drawnRule
}

type drawnRule struct {
	name, allow, who, of, limit, approvals, others, alone, key, price string
	kinds                                                             []string
	when                                                              []string
}

var drawnParties = []string{treasury, thief, usdc, "0x00000000000000000000000000000000000000A1", "0x00000000000000000000000000000000000000A2"}

func oneOf[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// some returns some of the values, in their order; at least one.
func some[T any](random *rand.Rand, from ...T) (values []T) {
	for len(values) == 0 {
		for _, value := range from {
			if random.IntN(2) == 0 {
				values = append(values, value)
			}
		}
	}
	return values
}

func drawnLimit(random *rand.Rand, name string) string {
	return fmt.Sprintf("{name: %s, asset: %s, max: %q, window: %s, per: %s}", name, oneOf(random, "usdc", "usdc", "main"),
		fmt.Sprint(1+random.IntN(9)), oneOf(random, "24h", "24h", "24h", "48h"), oneOf(random, "organization", "organization", "user", "key"))
}

// drawnClause draws a clause about one effect, or about others.
func drawnClause(random *rand.Rand) string {
	n := random.IntN(9)
	party := drawnParties[random.IntN(len(drawnParties))]
	return oneOf(random,
		"effect.to in first", "effect.to in first", "effect.to in second", "!(effect.to in second)", "!(effect.to in first)",
		fmt.Sprintf("effect.amount <= units('%d')", n), fmt.Sprintf("effect.amount <= units('%d')", n),
		fmt.Sprintf("effect.amount > units('%d')", n), fmt.Sprintf("!(effect.amount < units('%d'))", n),
		fmt.Sprintf("effect.amount >= amount(usdc, '%d')", n), fmt.Sprintf("effect.to in [address('%s'), address('%s')]", party, treasury),
		"effect.asset == usdc", "effect.asset == main", "has(effect.to)", "!has(effect.to) || effect.to in second",
		"effect.to in first || effect.decoded", fmt.Sprintf("effect.amount <= units('%d') || effect.to in second", n),
		fmt.Sprintf("request.total(usdc) <= amount(usdc, '%d')", n), "effect.by != 'other'",
		fmt.Sprintf("effect.to == address('%s')", party), "effects.size() < 3", "!(effect.to in second || effect.to in first)",
		"effect.to in first ? !effect.decoded : effect.to in second", fmt.Sprintf("effect.amount in [amount(usdc, '%d'), units('%d')]", n, n+1),
		fmt.Sprintf("effect.amount in [units('%d')]", n), fmt.Sprintf("effect.to != address('%s')", party), "!effects.exists(e, e.to in second)",
	)
}

func drawnRuleNamed(random *rand.Rand, name string) drawnRule {
	r := drawnRule{name: name, allow: "allow"}
	if random.IntN(5) == 0 {
		r.allow = "deny"
	}
	for n := range 12 {
		if random.IntN(2) == 0 {
			r.redraw(random, n)
		}
	}
	if r.kinds == nil {
		r.redraw(random, 0)
	}
	return r
}

// redraw draws one part of a rule.
func (r *drawnRule) redraw(random *rand.Rand, part int) {
	switch part {
	case 0:
		r.kinds = some(random, "transfer", "transfer", "approve", "fee")
	case 1:
		r.who = oneOf(random, "", "", "{tag: a}", "{tag: b}", "{user: [ann, bob]}", "{user: ann}", "{user: bob, tag: a}", "{not: {user: ann}}")
	case 2, 3:
		if r.when = append(slices.Clone(r.when), drawnClause(random)); random.IntN(3) == 0 {
			r.when = []string{drawnClause(random)}
		}
	case 4, 5:
		r.limit = oneOf(random, "", "", "one", "two", "three", "one, two", "two, one", "two, three")
	case 6, 7:
		r.approvals = oneOf(random, "", "", "{count: 1, tag: a}", "{count: 1}", "{count: 2}", "{count: 2, tag: a}", "{count: 1, tag: b}",
			"{count: 1, users: [ann, bob]}", "{count: 1, tag: a, submitter: counts}", "{count: 1, tag: a}, {count: 1, tag: b}")
	case 8:
		r.others = oneOf(random, "", "", "", "others: true")
	case 9:
		r.alone = oneOf(random, "", "", "alone: true")
	case 10:
		r.of = oneOf(random, "", "", "of: transactions", "of: messages", "chains: [eip155:1]", "chains: [eip155:1, eip155:5]", "on: ethereum",
			"of: transactions, chains: [eip155:1], hazards: eip712/far-deadline",
			"of: transactions, chains: [eip155:1], hazards: [eip712/far-deadline, ethereum/legacy-nonce]", "on: [ethereum, solana]")
	case 11:
		if r.price = oneOf(random, "", "", "", "each: 1", "bundle: true"); random.IntN(4) == 0 {
			r.key = oneOf(random, "", "hot", "[hot, cold]")
		}
	}
}

func (r *drawnRule) text() string {
	parts := []string{"name: " + r.name, r.allow + ": [" + strings.Join(slices.Compact(slices.Clone(r.kinds)), ", ") + "]"}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+value)
		}
	}
	when := slices.Clone(r.when)
	if r.price != "" && r.allow == "allow" {
		when = append(when, "effects.exists(e, e.kind == 'receive' && e.amount >= units('3'))")
		add("", r.price)
	}
	for i, clause := range when {
		if strings.Contains(clause, "||") && len(when) > 1 {
			when[i] = "(" + clause + ")"
		}
	}
	if len(when) > 0 {
		add("when: ", quoted(strings.Join(when, " && ")))
	}
	add("who: ", r.who)
	add("key: ", r.key)
	add("", r.others)
	if r.allow == "allow" {
		if r.limit != "" {
			add("limit: ", "["+r.limit+"]")
			if slices.Contains(r.kinds, "fee") {
				add("", r.alone)
			}
		}
		if r.approvals != "" {
			add("approvals: ", "["+r.approvals+"]")
		}
	}
	if r.allow == "allow" || !strings.Contains(r.of, "hazards") {
		add("", r.of)
	}
	return "  - {" + strings.Join(parts, ", ") + "}\n"
}

func (f *drawnFile) text() string {
	var rules strings.Builder
	for i := range f.rules {
		rules.WriteString(f.rules[i].text())
	}
	text := rules.String()
	out := "schema: countersign.policy/2\n"
	for i, name := range []string{"first", "second"} {
		if strings.Contains(text, name) {
			if !strings.Contains(out, "lists:") {
				out += "lists:\n"
			}
			out += "  " + name + ": {shared: true, addresses: [" + strings.Join(f.lists[i], ", ") + "]}\n"
		}
	}
	limits := ""
	for i, name := range []string{"one", "two", "three"} {
		if strings.Contains(text, name) {
			limits += "  - " + f.limits[i] + "\n"
		}
	}
	if strings.Contains(text+limits, "usdc") || strings.Contains(text+limits, "main") {
		out += "assets:\n"
	}
	if strings.Contains(text+limits, "usdc") {
		out += `  usdc: {chain: "eip155:1", token: "` + usdc + "\", decimals: 0}\n"
	}
	if strings.Contains(text+limits, "main") {
		out += "  main: {chain: \"eip155:1\", token: native}\n"
	}
	if limits != "" {
		out += "limits:\n" + limits
	}
	return out + "rules:\n" + text
}

func (f *drawnFile) redraw(random *rand.Rand, part int) {
	if part < 2 {
		f.lists[part] = nil
		for _, party := range some(random, drawnParties...) {
			f.lists[part] = append(f.lists[part], `"`+party+`"`)
		}
		return
	}
	f.limits[part-2] = drawnLimit(random, []string{"one", "two", "three"}[part-2])
}

func drawFile(random *rand.Rand) *drawnFile {
	f := &drawnFile{}
	for part := range 5 {
		f.redraw(random, part)
	}
	if random.IntN(3) == 0 {
		f.drawLadder(random)
	}
	for i := range 1 + random.IntN(4-len(f.rules)) {
		f.rules = append(f.rules, drawnRuleNamed(random, fmt.Sprintf("r%d", i)))
	}
	return f
}

// drawLadder draws rules of which the second takes what exceeds the limit of the first, or a part of it,
// and another that may charge that limit too.
func (f *drawnFile) drawLadder(random *rand.Rand) {
	when := []string{drawnClause(random), "effect.to in first"}
	f.limits[0] = `{name: one, asset: usdc, max: "9", window: 24h, per: organization}`
	small := drawnRule{name: "small", allow: "allow", kinds: []string{"transfer"}, limit: "one", when: when[random.IntN(2):]}
	large := drawnRule{name: "large", allow: "allow", kinds: []string{"transfer"}, when: when[:1+random.IntN(2)]}
	other := drawnRule{name: "other", allow: "allow", kinds: []string{"approve"}, limit: oneOf(random, "", "one", "two")}
	large.redraw(random, 6)
	other.redraw(random, 6)
	f.rules = append(f.rules, small, large, other)[:2+random.IntN(2)]
}

// mutated returns the file with one thing changed.
func (f *drawnFile) mutated(random *rand.Rand) *drawnFile {
	changed := *f
	changed.rules = slices.Clone(f.rules)
	at := random.IntN(len(f.rules))
	r := &changed.rules[at]
	if f.rules[0].name == "small" && random.IntN(2) == 0 {
		if random.IntN(3) == 0 {
			changed.rules[0].limit = oneOf(random, "one, two", "two, one")
		} else {
			changed.limits[0] = regexp.MustCompile(`max: "."`).ReplaceAllString(f.limits[0], fmt.Sprintf("max: %q", fmt.Sprint(1+random.IntN(6))))
		}
		return &changed
	}
	switch random.IntN(12) {
	case 0, 1:
		changed.redraw(random, random.IntN(5))
	case 2:
		if changed.rules = slices.Delete(changed.rules, at, at+1); len(changed.rules) == 0 {
			changed.rules = []drawnRule{drawnRuleNamed(random, "new")}
		}
	case 3:
		changed.rules = slices.Insert(changed.rules, at, drawnRuleNamed(random, "new"))
	case 4:
		other := random.IntN(len(f.rules))
		changed.rules[at], changed.rules[other] = f.rules[other], f.rules[at]
	case 5:
		if len(r.when) > 0 {
			gone := random.IntN(len(r.when))
			r.when = slices.Delete(slices.Clone(r.when), gone, gone+1)
		}
	case 6, 7:
		r.when = slices.Insert(slices.Clone(r.when), random.IntN(len(r.when)+1), drawnClause(random))
	default:
		r.redraw(random, random.IntN(12))
	}
	return &changed
}

// drawnRequest draws a request, with what was spent and who voted.
func drawnRequest(t testing.TB, random *rand.Rand) access.Authorization {
	user := func() access.User {
		name := oneOf(random, "ann", "bob", "cem", "dan")
		return access.User{ID: name, Name: name, Tags: map[string][]string{"ann": {"a"}, "bob": {"a", "b"}, "cem": {"b"}}[name]}
	}
	asked := access.Authorization{User: user(), Chain: "ethereum", Intent: activity.SignTransactionIntent{}}
	if random.IntN(6) == 0 {
		asked.Intent = activity.SignRawPayloadIntent{}
	}
	if id := oneOf(random, "1", "1", "1", "5", ""); id != "" {
		summary := &chains.Summary{Chain: "ethereum", Fields: []chains.Field{{Label: "chain", Key: "chain_id", Type: chains.TypeInteger, Value: id}}}
		asked.Summary = func() *chains.Summary { return summary }
	}
	if random.IntN(5) > 0 {
		asked.Keys = []access.SigningKey{{ID: oneOf(random, "hot", "cold"), Name: "k"}}
	}
	for range 1 + random.IntN(3) {
		e := chains.Effect{Kind: oneOf(random, chains.KindTransfer, chains.KindTransfer, chains.KindApprove, chains.KindFee, chains.KindReceive),
			By: oneOf(random, chains.BySigner, chains.BySigner, chains.BySigner, chains.ByOther), Controlled: chains.ControlledNo,
			Asset: oneOf(random, chains.Token("eip155:1", party(t, usdc), ""), chains.Native("eip155:1")), Amount: chains.Exactly(big.NewInt(int64(random.IntN(10)))),
			To: party(t, oneOf(random, drawnParties...)), Change: random.IntN(12) == 0, Undecoded: random.IntN(6) == 0}
		switch random.IntN(16) {
		case 0:
			e.To = chains.UnknownParty()
		case 1:
			e.Amount = chains.UnknownQuantity()
		case 2:
			e.To, e.Amount = chains.Party{}, chains.Quantity{}
		}
		asked.Effects = append(asked.Effects, e)
	}
	if random.IntN(5) == 0 {
		hazard := chains.Hazard{Name: oneOf(random, "eip712/far-deadline", "ethereum/legacy-nonce")}
		if random.IntN(2) == 0 {
			hazard = hazard.OnEffect(random.IntN(len(asked.Effects)))
		}
		asked.Hazards = append(asked.Hazards, hazard)
	}
	for range random.IntN(4) {
		asked.Votes = append(asked.Votes, access.Vote{User: user()})
	}
	spent := ledger{}
	for _, limit := range []string{"one", "two", "three"} {
		if random.IntN(2) == 0 {
			for _, subject := range []string{"organization", asked.User.ID, "hot", "cold"} {
				spent[limit+subject] = big.NewInt(int64(random.IntN(10)))
			}
		}
	}
	asked.Spent = spent
	if random.IntN(2) == 0 {
		return asked
	}
	// Several payments of one asset, which no rule refuses for anything else than their sum and the votes.
	asked.Effects, asked.Hazards, asked.Spent = asked.Effects[:0], nil, ledger{}
	for range 2 + random.IntN(2) {
		asked.Effects = append(asked.Effects, chains.Effect{Kind: oneOf(random, chains.KindTransfer, chains.KindTransfer, chains.KindApprove), By: chains.BySigner,
			Controlled: chains.ControlledNo, Asset: chains.Token("eip155:1", party(t, usdc), ""), Amount: chains.Exactly(big.NewInt(int64(1 + random.IntN(8)))), To: party(t, oneOf(random, drawnParties...))})
	}
	return asked
}

// outcomeOf is 0 if a request is denied, 1 if it waits for votes, and 2 if it is allowed.
func outcomeOf(t testing.TB, file *policy.File, asked access.Authorization) int {
	decision, err := file.Decide(t.Context(), asked)
	switch {
	case errors.Is(err, access.ErrDenied):
		return 0
	case err != nil:
		t.Fatal(err)
	case slices.ContainsFunc(access.Missing(decision.Approvals, asked.Votes, asked.User.ID, asked.Now), func(n int) bool { return n > 0 }):
		return 1
	}
	return 2
}

// TestTightensProved draws pairs of files, and for those of which the later is proved to tighten the
// earlier, requests in some state of the limits and with some votes: none gets more.
func TestTightensProved(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	pairs, proved, less := testenv.Draws(t, 500), 0, 0
	for n := 0; n < pairs; {
		before := drawFile(random)
		after := before.mutated(random)
		if random.IntN(3) == 0 {
			after = after.mutated(random)
		}
		old, err := policy.Parse("old.yaml", []byte(before.text()), options())
		if err != nil {
			continue
		}
		file, err := policy.Parse("new.yaml", []byte(after.text()), options())
		if err != nil {
			continue
		}
		n++
		if !file.Proved(old) {
			continue
		}
		proved++
		for range 200 {
			asked := drawnRequest(t, random)
			was, is := outcomeOf(t, old, asked), outcomeOf(t, file, asked)
			if is < was {
				less++
			}
			if is > was {
				was, _ := old.Explain(t.Context(), asked)
				is, _ := file.Explain(t.Context(), asked)
				t.Fatalf("proved to tighten, and allows more of %+v, votes %+v, spent %v\n%s\n%s\nwas: %v\nis: %v\n%v", asked, asked.Votes, asked.Spent,
					before.text(), after.text(), was, is, file.Since(old))
			}
		}
	}
	t.Logf("%d of %d pairs are proved, of which %d requests get less", proved, pairs, less)
	if proved < pairs/10 || less == 0 {
		t.Errorf("%d of %d pairs are proved to tighten, of which %d requests get less: the test shows nothing", proved, pairs, less)
	}
}
