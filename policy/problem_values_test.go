package policy_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
)

// TestWrongValues: each invalid value of a limit, a list, a rule, a group or a test has an
// error of its own.
func TestWrongValues(t *testing.T) {
	rule := func(rest string) string { return head + "rules:\n  - {name: a, " + rest + "}\n" }
	when := func(condition string) string { return rule("allow: transfer, when: \"" + condition + "\"") }
	limit := func(rest string) string {
		return head + "limits:\n  - {" + rest + "}\nrules:\n  - {name: a, allow: transfer, limit: d}\n"
	}
	list := func(addresses string) string {
		return "schema: countersign.policy/2\nlists: {t: [" + addresses + "]}\nrules:\n  - {name: a, allow: transfer, when: effect.to in t}\n"
	}
	approvals := func(group string) string { return rule("allow: transfer, approvals: [" + group + "]") }
	test := func(rest string) string { return head + pays + "tests:\n  - {" + rest + "}\n" }
	for name, one := range map[string]struct{ file, want string }{
		"limit per":               {limit("name: d, asset: usdc, max: \"1\", window: 24h, per: keys"), "per: keys is none of"},
		"limit without a name":    {limit("name: D, asset: usdc, max: \"1\", window: 24h, per: key"), "a limit needs a name"},
		"limit twice":             {limit("name: d, asset: usdc, max: \"1\", window: 24h, per: key}\n  - {name: d, asset: usdc, max: \"9\", window: 24h, per: key"), "limit d is defined twice"},
		"limit without max":       {limit("name: d, asset: usdc, window: 24h, per: key"), "limit d needs asset, max, window and per"},
		"limit without window":    {limit("name: d, asset: usdc, max: \"1\", per: key"), "limit d needs asset, max, window and per"},
		"limit of zero":           {limit("name: d, asset: usdc, max: \"0\", window: 24h, per: key"), "above zero"},
		"limit of no asset":       {limit("name: d, asset: usd, max: \"1\", window: 24h, per: key"), "there is no asset usd: did you mean usdc?"},
		"limit twice in a rule":   {head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: key}\nrules:\n  - {name: a, allow: transfer, limit: [d, d]}\n", "limit d is listed twice"},
		"limit that counts none":  {head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: key}\nrules:\n  - {name: a, allow: call, limit: d}\n", "this rule has none of them"},
		"limit of another chain":  {head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: key}\nrules:\n  - {name: a, allow: transfer, on: solana, limit: d}\n", "which does not exist on solana"},
		"recipient unlisted":      {head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: to}\nrules:\n  - {name: a, allow: transfer, when: \"effect.decoded\", limit: d}\n", "a thief can use any number of recipients"},
		"recipient only tested":   {head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: to}\nrules:\n  - {name: a, allow: transfer, when: \"has(effect.to) == true\", limit: d}\n", "a thief can use any number of recipients"},
		"list twice":              {list(`"` + treasury + `", "` + strings.ToLower(treasury) + `"`), "is in this list twice"},
		"list empty":              {list(""), "list t is empty"},
		"address empty":           {list(`""`), "not an address"},
		"address of nothing":      {list(`hello`), "not an address"},
		"address in hex":          {list(`"0xzzd2b0a37f869ff76bacb5bab3278e26ab7067b7"`), "not hex"},
		"address with 0X":         {list(`"0X08d2b0a37f869ff76bacb5bab3278e26ab7067b7"`), "it must start with 0x"},
		"address too long":        {list(strings.Repeat("1", 45)), "not an address"},
		"asset of no chain":       {"schema: countersign.policy/2\nassets: {a: {chain: \"eip155\", token: native}}\nrules: []\n", "eip155: and a chain id"},
		"asset with token and id": {"schema: countersign.policy/2\nassets: {a: {chain: \"eip155:1\", token: \"" + usdc + "\", decimals: 0, id: \"5\"}}\nrules: []\n", "it has a token or an id, not both"},
		"rule twice":              {rule("allow: transfer") + "  - {name: a, allow: fee}\n", "another rule has this name"},
		"rule without a name":     {head + "rules:\n  - {name: Pays, allow: transfer}\n", "a rule needs a name"},
		"rule without a scope":    {rule("when: effect.asset == usdc"), "a rule needs allow or deny"},
		"kind twice":              {rule("allow: [transfer, transfer]"), "transfer is listed twice"},
		"request with kinds":      {rule("allow: [request, transfer]"), "it cannot be in a list with kinds"},
		"on":                      {rule("allow: transfer, on: etherum"), "on: etherum is not a chain: did you mean ethereum?"},
		"empty condition":         {when(" "), "when is empty"},
		"details of two chains":   {rule("allow: transfer, on: ethereum, when: \"eth.tx.nonce < 5 && tron.tx.fee_limit < sun('5')\""), "the details of one chain"},
		"group without a count":   {approvals("{tag: finance}"), "an approval needs a count"},
		"group of none":           {approvals("{count: 0, tag: finance}"), "a whole number from 1 to"},
		"group too large":         {approvals("{count: 21, tag: finance}"), "a whole number from 1 to"},
		"group that cannot be":    {approvals("{count: 2, users: [ann]}"), "2 approvals of 1 users can never be reached"},
		"group not":               {approvals("{count: 1, not: ann}"), "not: only submitter"},
		"group with":              {approvals("{count: 1, with: totp}"), "with: only passkey"},
		"who empty":               {rule("allow: transfer, who: {}"), "who is empty"},
		"who deep":                {rule("allow: transfer, who: {not: {not: {not: {not: {not: {tag: a}}}}}}"), "nested more than 4 deep"},
		"tag empty":               {rule("allow: transfer, who: {tag: \"\"}"), "tag is empty"},
		"others":                  {rule("allow: transfer, others: 1"), "expected true or false"},
		"approvals no list":       {rule("allow: transfer, approvals: 2"), "expected a list"},
		"item without value":      {rule("allow: transfer, hazards: [null]"), "an item without a value"},
		"merge key":               {"schema: countersign.policy/2\n<<: {rules: []}\n", "expected"},
		"deep in a list":          {"a: [[[&x 1]]]\n", "anchors and aliases"},
		"leading zero":            {when("effect.amount < ether('01')"), "has a leading zero"},
		"wider than 256 bits":     {when("effect.amount < ether('" + strings.Repeat("9", 70) + "')"), "wider than 256 bits"},
		"much wider":              {when("effect.amount < ether('" + strings.Repeat("9", 300) + "')"), "wider than 256 bits"},
		"amount of no asset":      {when("effect.amount < amount(effect.asset, '1')"), "amount takes an asset"},
		"amount too fine":         {when("effect.amount < amount(usdc, '0.0000001')"), "7 digits after the point"},
		"timestamp":               {when("time.now < timestamp('tomorrow')"), "timestamp"},
		"hours without a zone":    {when("time.within('Mo-Fr 08:00-18:00')"), "is not days, hours and a time zone"},
		"hours of no day":         {when("time.within('Mon-Fr 08:00-18:00 UTC')"), "is not days such as"},
		"hours of no time":        {when("time.within('Mo-Fr 08:00-08:00 UTC')"), "is not hours such as"},
		"hours with a sign":       {when("time.within('Mo-Fr +8:00-18:00 UTC')"), "is not hours such as"},
		"hours past midnight":     {when("time.within('Mo-Fr 08:00-24:30 UTC')"), "is not hours such as"},
		"hours of this machine":   {when("time.within('Mo-Fr 08:00-18:00 Local')"), "depends on the machine"},
		"hours of its localtime":  {when("time.within('Mo-Fr 08:00-18:00 localtime')"), "depends on the machine"},
		"test expects":            {test("effects: [], expect: yes"), "a test expects allow, deny or approvals"},
		"test of nothing":         {test("expect: deny"), "a test has one of transaction, file and effects"},
		"test of two":             {test("effects: [], file: a.json, expect: deny"), "a test has one of transaction, file and effects"},
		"test without type":       {test("transaction: \"02\", expect: deny"), "a transaction needs its type"},
		"test of no transaction":  {test("transaction: \"02\", type: TRANSACTION_TYPE_ETHEREUM, expect: deny"), "the test cannot be run"},
		"test of no file":         {test("file: absent.json, expect: deny"), "the test cannot be run"},
		"test of no rule":         {test("effects: [], expect: deny, rule: pay"), "there is no rule pay: did you mean pays?"},
		"test of no hazard":       {test("effects: [], expect: deny, hazards: [ethereum/blnd]"), "there is no hazard"},
		"test at no time":         {test("effects: [], expect: deny, at: noon"), "a time such as"},
		"test of no kind":         {test("effects: [{kind: transfr}], expect: deny"), "transfr is not a kind of effect"},
		"test without kind":       {test("effects: [{to: \"" + treasury + "\"}], expect: deny"), "an effect needs a kind"},
		"test of no address":      {test("effects: [{kind: transfer, to: bob}], expect: deny"), "not an address"},
		"test of no amount":       {test("effects: [{kind: transfer, asset: usdc, amount: much}], expect: deny"), "amount: "},
		"test by no one":          {test("effects: [{kind: transfer, by: othr}], expect: deny"), "by: othr is none of signer, other, standing: did you mean other?"},
		"test on no chain":        {test("effects: [], on: etherum, expect: deny"), "on: etherum is not a chain: did you mean ethereum?"},
		"test of no asset":        {test("effects: [{kind: transfer, asset: usd}], expect: deny"), "there is no asset usd"},
		"test spends of no limit": {test("effects: [], expect: deny, spent: {day: \"1\"}"), "there is no limit day"},
		"test without a time": {head + "rules:\n  - {name: a, allow: transfer, when: \"effect.to in treasury && effect.asset == usdc && time.within('Mo-Fr 08:00-18:00 UTC')\"}\n" +
			"tests:\n  - {effects: [], expect: deny}\n", "a rule depends on the time"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.Parse("p.yaml", []byte(one.file), options())
			var problems *policy.Error
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), one.want) {
				t.Fatalf("%v\nwant %s", err, one.want)
			}
		})
	}
}

// TestWrongNames: if the organization's names are known, unknown users, tags and credentials
// are refused, and groups that its users cannot fill.
func TestWrongNames(t *testing.T) {
	ann := access.User{ID: "u1", Name: "ann", Tags: []string{"finance"}}
	names := &policy.Names{Users: []access.User{ann, ann, {ID: "u2", Name: "bob"}, {ID: "u3", Name: "bob"}}, Credentials: []string{"c1"}}
	for rest, want := range map[string]string{
		"who: {user: anne}":                     "there is no user anne: did you mean ann?",
		"who: {user: bob}":                      "2 users are called bob",
		"who: {tag: finanze}":                   "no user has the tag finanze: did you mean finance?",
		"who: {credential: c2}":                 "there is no credential c2",
		"approvals: [{count: 2, tag: finance}]": "2 approvals are needed, but only 1 of the users can give one",
	} {
		_, err := policy.Parse("p.yaml", []byte("schema: countersign.policy/2\nrules:\n  - {name: a, allow: transfer, "+rest+"}\n"), withNames(names))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", rest, err, want)
		}
	}
	if _, err := policy.Parse("p.yaml", []byte("schema: countersign.policy/2\nrules:\n  - {name: a, allow: transfer, who: {user: ann}}\n"), withNames(names)); err != nil {
		t.Errorf("a user who is listed twice: %v", err)
	}
}

// TestAuthorize: Authorize refuses what is denied, and what needs a charge or approvals.
func TestAuthorize(t *testing.T) {
	const limited = head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: user}\nrules:\n  - {name: a, allow: transfer, when: effect.to in treasury, limit: d}\n"
	for text, want := range map[string]string{
		limited: "this charges a limit",
		head + "rules:\n  - {name: a, allow: transfer, when: effect.asset == usdc && effect.to in treasury, approvals: [{count: 2}]}\n": "this needs approvals",
		head + "rules:\n  - {name: a, deny: transfer, when: effect.asset == usdc && effect.to in treasury}\n":                           "rule a denies",
	} {
		asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(5))))
		asked.User.ID = "u1"
		err := load(t, text).Authorize(t.Context(), asked)
		if !errors.Is(err, access.ErrDenied) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := load(t, head+pays).Authorize(t.Context(), ask(tokens(t, treasury, chains.Exactly(big.NewInt(5))))); err != nil {
		t.Errorf("what needs nothing: %v", err)
	}
}

// brokenLedger is a ledger that fails.
type brokenLedger struct{}

func (brokenLedger) Spent(context.Context, string, store.Charge) (*big.Int, time.Time, error) {
	return nil, time.Time{}, errors.New("the disk is away")
}

// TestBrokenLedger: Decide and Explain fail if a limit cannot be read; they neither allow
// nor deny.
func TestBrokenLedger(t *testing.T) {
	const limited = head + "limits:\n  - {name: d, asset: usdc, max: \"1\", window: 24h, per: user}\nrules:\n  - {name: a, allow: transfer, when: effect.to in treasury, limit: d}\n  - {name: b, allow: transfer, when: effect.asset == usdc}\n"
	asked := ask(tokens(t, treasury, chains.Exactly(big.NewInt(5))))
	asked.User.ID, asked.Spent = "u1", brokenLedger{}
	file := load(t, limited)
	decision, err := file.Decide(t.Context(), asked)
	if err == nil || errors.Is(err, access.ErrDenied) || !strings.Contains(err.Error(), "the disk is away") || len(decision.Rules) > 0 {
		t.Errorf("%+v, %v", decision, err)
	}
	if explanation, err := file.Explain(t.Context(), asked); err == nil || errors.Is(err, access.ErrDenied) {
		t.Errorf("%+v, %v", explanation, err)
	}
}
