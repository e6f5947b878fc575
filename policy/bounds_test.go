package policy_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// numbered joins the texts for the numbers below n.
func numbered(n int, text func(int) string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(text(i))
	}
	return out.String()
}

// solanaAddress returns a different address for each number.
func solanaAddress(i int) string {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], uint64(i)+1)
	return base58.Encode(key[:])
}

// TestBoundsOfFiles: a file that exceeds a bound by one is refused with the bound.
func TestBoundsOfFiles(t *testing.T) {
	const schema = "schema: countersign.policy/2\n"
	const rule = "  - {name: a, allow: transfer}\n"
	listed := func(n int) string {
		return schema + "lists:\n  t: [" + numbered(n, func(i int) string { return solanaAddress(i) + ", " }) + "]\nrules:\n  - {name: a, allow: transfer, when: effect.to in t}\n"
	}
	for name, test := range map[string]struct{ file, want string }{
		"rules": {schema + "rules:\n" + numbered(1000+1, func(i int) string { return fmt.Sprintf("  - {name: r%d, allow: burn}\n", i) }),
			"1001 rules, at most 1000 are allowed"},
		"limits": {schema + "assets: {coin: {chain: solana, token: native}}\nlimits:\n" + numbered(100+1, func(i int) string {
			return fmt.Sprintf("  - {name: l%d, asset: coin, max: \"1\", window: 1h, per: key}\n", i)
		}) + "rules:\n" + rule, "101 limits, at most 100 are allowed"},
		"tests": {schema + "rules:\n" + rule + "tests:\n" + numbered(1000+1, func(int) string { return "  - {effects: [], expect: deny}\n" }),
			"1001 tests, at most 1000 are allowed"},
		"assets": {schema + "assets:\n" + numbered(1000+1, func(i int) string {
			return fmt.Sprintf("  a%d: {chain: \"eip155:%d\", token: native}\n", i, i+1)
		}) + "rules:\n" + rule, "more than 1000 lists and assets"},
		"wallets of Solana": {listed(512 + 1), "513 Solana addresses, a list has at most 512"},
		"bytes":             {schema + "# " + strings.Repeat("x", 512<<10) + "\nrules: []\n", "a file has at most 524288"},
		"no schema":         {"rules:\n" + rule, "schema is missing: write 'schema: countersign.policy/2'"},
		"deep blocks":       {numbered(20, func(i int) string { return strings.Repeat(" ", i) + "a:\n" }), "nested more than 16 deep"},
		"tag below":         {"a:\n  b:\n    - c: !x 1\n", "tags, merge keys and directives"},
		"alias in a list":   {"a:\n  - b\n  - *x\n", "anchors and aliases"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.Parse("p.yaml", []byte(test.file), options())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%.300v, want %s", err, test.want)
			}
		})
	}
	load(t, listed(512))
}

// TestLoad: a file that is too large is refused before it is read, and a missing file with
// the error of the file system.
func TestLoad(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(folder, "large.yaml")
	testenv.Write(t, large, nil)
	testenv.Must(t, os.Truncate(large, 1<<40))
	if _, err := policy.Load(large, options()); err == nil || !strings.Contains(err.Error(), "longer than 524288 bytes") {
		t.Errorf("a file of 1 TiB: %v", err)
	}
	if _, err := policy.Load(filepath.Join(folder, "absent.yaml"), options()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := policy.Load(folder, options()); err == nil {
		t.Error("a folder was read")
	}
	text := head + pays + "tests:\n  - {file: drain.json, expect: deny}\n"
	small := filepath.Join(folder, "small.yaml")
	for content, want := range map[string]string{
		"":         "no such file",
		"not JSON": "drain.json: invalid character",
		`{"type":"TRANSACTION_TYPE_ETHEREUM","unsignedTransaction":"02"}`: "the test cannot be run",
	} {
		if content != "" {
			testenv.Write(t, filepath.Join(folder, "drain.json"), []byte(content))
		}
		testenv.Write(t, small, []byte(text))
		_, err := policy.Load(small, options())
		if content != "" {
			_ = os.Remove(filepath.Join(folder, "drain.json"))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
}

// TestAmountsOfAssetsWithoutDecimals: if an asset has no decimals, amounts of it cannot be
// written in conditions, and those of limits and tests are in its smallest unit.
func TestAmountsOfAssetsWithoutDecimals(t *testing.T) {
	const trc10 = "schema: countersign.policy/2\nassets: {ten: {chain: tron, id: \"1002000\"}}\n"
	for rest, want := range map[string]string{
		"rules:\n  - {name: a, allow: transfer, when: \"effect.amount < amount(ten, '1')\"}\n":                                                                                                "does not say how many decimals tron 1002000 has",
		"limits:\n  - {name: d, asset: ten, max: \"1\", window: 1h, per: key}\nrules:\n  - {name: a, allow: transfer, limit: d}\ntests:\n  - {effects: [], expect: deny, spent: {d: much}}\n": `spent: "much" is not a decimal number`,
	} {
		_, err := policy.Parse("p.yaml", []byte(trc10+rest), options())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	load(t, trc10+"limits:\n  - {name: d, asset: ten, max: \"5\", window: 1h, per: key}\nrules:\n  - {name: a, allow: transfer, limit: d}\ntests:\n"+
		"  - {effects: [{kind: transfer, asset: ten, amount: \"5\"}], key: k, expect: allow}\n"+
		"  - {effects: [{kind: transfer, asset: ten, amount: \"5\"}], key: k, spent: {d: \"1\"}, expect: deny}\n")
}

// TestRequestRuleDecides: a rule on request allows a hazard of the request only if it
// decides: where the rules before it do not list the hazard and its own condition holds.
// Its votes are needed then. An error in the condition allows nothing.
func TestRequestRuleDecides(t *testing.T) {
	const rest = "  - {name: pays, allow: transfer, when: 'effect.asset.native && effect.to in treasury || effect.asset == usdc'}\n"
	rule := func(more string) string {
		return head + "rules:\n" + rest + "  - {name: whole, allow: request, hazards: [ethereum/no-chain-id], of: transactions, " + more + "}\n"
	}
	asked := ask(ether(t, treasury, 1))
	asked.Hazards = []chains.Hazard{{Name: "ethereum/no-chain-id"}}
	for more, want := range map[string]string{
		"when: \"user.name == 'bot'\"":                                    "allowed by whole: 1 hazards, 0 groups",
		"when: \"user.name == 'bot'\", approvals: [{count: 1, tag: ops}]": "allowed by whole: 1 hazards, 1 groups",
		"when: \"user.name == 'ann'\"":                                    "refused: 0 hazards, 0 groups",
		"when: \"credential.id == 'x'\"":                                  "refused: 0 hazards, 0 groups",
		"who: {user: ann}":                                                "refused: 0 hazards, 0 groups",
		"key: [cold]":                                                     "refused: 0 hazards, 0 groups",
		"on: tron":                                                        "refused: 0 hazards, 0 groups",
		"when: \"user.name == 'bot'\", who: {any: [{tag: x}, {tag: y}]}":    "refused: 0 hazards, 0 groups",
		"when: \"user.name == 'bot'\", who: {any: [{tag: x}, {user: bot}]}": "allowed by whole: 1 hazards, 0 groups",
	} {
		got, decision := decide(t, rule(more), asked)
		if strings.Contains(got, "rule pays would cover it, but does not list the request's hazard") {
			got = "refused"
		}
		if got = fmt.Sprintf("%s: %d hazards, %d groups", got, len(decision.Hazards), len(decision.Approvals)); got != want {
			t.Errorf("%s: %s, want %s", more, got, want)
		}
	}
}

// TestChainOfAnEmbedder: rules know only the built-in chains. Effects on an embedder's own
// chain are denied, whatever the rules.
func TestChainOfAnEmbedder(t *testing.T) {
	asked := ask(ether(t, treasury, 1))
	about(&asked, "embedders")
	if got, _ := decide(t, "schema: countersign.policy/2\nrules:\n  - {name: all, allow: request}\n", asked); !strings.Contains(got, "cannot judge the chain embedders") {
		t.Error(got)
	}
}

// TestOrganizations: Authorize and Decide use the organization's own file; an organization
// without a file has no rules, and one with a nil file is denied everything.
func TestOrganizations(t *testing.T) {
	denies := head + "rules:\n  - {name: no, deny: transfer, when: effect.asset == usdc || effect.to in treasury}\n"
	all := policy.NewOrganizations(map[string]*policy.File{"org": load(t, denies)})
	asked := ask(ether(t, treasury, 1))
	if err := all.Authorize(t.Context(), asked); !errors.Is(err, access.ErrDenied) {
		t.Errorf("Authorize: %v", err)
	}
	if _, err := all.Decide(t.Context(), asked); !errors.Is(err, access.ErrDenied) {
		t.Errorf("Decide: %v", err)
	}
	for _, other := range []*access.Organization{nil, {ID: "other"}} {
		asked.Organization = other
		if err := all.Authorize(t.Context(), asked); err != nil {
			t.Errorf("another: %v", err)
		}
		if decision, err := all.Decide(t.Context(), asked); err != nil || len(decision.Rules) > 0 {
			t.Errorf("another: %+v, %v", decision, err)
		}
	}
	asked.Organization = &access.Organization{ID: "org"}
	none := policy.NewOrganizations(map[string]*policy.File{"org": nil})
	if err := none.Authorize(t.Context(), asked); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a nil file, Authorize: %v", err)
	}
	if _, err := none.Decide(t.Context(), asked); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a nil file, Decide: %v", err)
	}
	if all.Replace("other", load(t, denies)) || all.Replace("org", nil) || !all.Replace("org", load(t, head+pays)) {
		t.Error("Replace")
	}
	if err := all.Authorize(t.Context(), asked); err != nil {
		t.Errorf("after Replace: %v", err)
	}
}

// TestReplayCharges: a replay fails if its ledger fails, and does not charge activities that
// wait.
func TestReplayCharges(t *testing.T) {
	f, records := recordedUnder(t, replayFree, 1)
	asked, problem := f.Engine.Operator().AskedAbout(t.Context(), records[0])
	if problem != nil {
		t.Fatal(problem)
	}
	for _, text := range []string{replayFree, replayTwo} {
		closed := load(t, text).NewReplay()
		testenv.Must(t, closed.Close())
		if seen, err := closed.Next(t.Context(), records[0], asked, nil); err == nil {
			t.Errorf("closed: %+v", seen)
		}
	}
	waits := strings.Replace(replayTwo, "limit: day}", "limit: day, approvals: [{count: 2}]}", 1)
	past := load(t, waits).NewReplay()
	defer past.Close()
	for i := range 3 { // a third would be over the limit, had the first two been charged
		record := *records[0]
		request := *record.Request
		request.Fingerprint = activity.Fingerprint{byte(i)}
		record.Request = &request
		asked[0].Now = asked[0].Now.Add(time.Minute)
		seen, err := past.Next(t.Context(), &record, asked, nil)
		if err != nil || seen.After != policy.OutcomeApprovals || len(seen.Charges) > 0 {
			t.Errorf("%d: %+v, %v", i, seen, err)
		}
	}
}

// TestExplainShowsValues: an explanation has the values of the members of a clause that
// does not hold, and the error of one that cannot be decided.
func TestExplainShowsValues(t *testing.T) {
	file := load(t, head+"rules:\n  - name: a\n    allow: transfer\n    when: >-\n      effect.asset.native && effect.amount <= ether('1') && !effects.exists(e, e.kind == 'fee') &&\n      (effect.to in treasury || effect.asset == usdc) && effect.arg('memo') == 'x'\n")
	change, other := ether(t, thief, 1), ether(t, thief, 1)
	change.Change, other.By = true, chains.ByOther
	for name, test := range map[string]struct {
		effects []chains.Effect
		want    string
	}{
		"over":    {[]chains.Effect{ether(t, treasury, 2e18)}, "a (allow), effect 0: does not match: effect.amount <= ether(\"1\")\n    effect.amount is 2000000000000000000 of the native asset of eip155:1"},
		"macro":   {[]chains.Effect{ether(t, treasury, 1), {Kind: chains.KindFee, By: chains.BySigner}}, "does not match: !effects.exists(e, e.kind == \"fee\")"},
		"thief":   {[]chains.Effect{ether(t, thief, 1)}, "effect.to is " + thief},
		"error":   {[]chains.Effect{ether(t, treasury, 1)}, "cannot be decided: effect.arg(\"memo\") == \"x\": effect.arg('memo') is absent"},
		"unknown": {[]chains.Effect{{Kind: chains.KindTransfer, By: chains.BySigner, Asset: chains.Native("eip155:1"), Amount: chains.Unlimited(nil)}}, "effect.amount is unknown"},
		"change":  {[]chains.Effect{ether(t, treasury, 1), change}, "    needs no rule: change, back to the wallet that pays\n"},
		"another": {[]chains.Effect{ether(t, treasury, 1), other}, "    needs no rule: authorized by another signature\n"},
	} {
		explanation, err := file.Explain(t.Context(), ask(test.effects...))
		if err != nil || !strings.Contains(explanation.String(), test.want) {
			t.Errorf("%s: %v\n%s\nwant %s", name, err, explanation, test.want)
		}
		if strings.Contains(test.want, "needs no rule") && strings.Contains(explanation.String(), "a (allow), effect 1") {
			t.Errorf("%s: a rule is asked about it\n%s", name, explanation)
		}
	}
}

// TestExplainLimit: an explanation says that a limit kept the first rule from deciding, which
// rule decided then, and amounts in the token's decimals and name.
func TestExplainLimit(t *testing.T) {
	file := load(t, head+`limits:
  - {name: usdc-day, asset: usdc, max: "10000", window: 24h, per: key}
rules:
  - {name: payouts, allow: transfer, when: effect.asset == usdc && effect.to in treasury, limit: usdc-day}
  - {name: small, allow: transfer, when: effect.asset == usdc}
  - {name: large, allow: transfer, when: effect.asset == usdc, approvals: [{count: 1, not: submitter}]}
`)
	asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(20_000_000_000))))
	explanation, err := file.Explain(t.Context(), asked)
	testenv.Must(t, err)
	for _, want := range []string{
		"effect 0: send 20000 usdc to ", "allow by small",
		"payouts (allow), effect 0: matches, but limit usdc-day of rule payouts: 20000 usdc is requested, 10000 of 10000 usdc is left within 24h\n",
	} {
		if !strings.Contains(explanation.String(), want) {
			t.Errorf("no %q in\n%s", want, explanation)
		}
	}
	if rules := explanation.Rules; rules[0].Decides || rules[0].Stopped == "" || !rules[1].Decides || rules[2].Decides {
		t.Errorf("%+v", rules)
	}
}
