package hosted_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/tools/countersign-policy-import/hosted"
)

// Addresses of the tests.
const (
	treasury = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	thief    = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"
	wallet   = "Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz"
	stranger = "GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu"
)

// source is a policy as the hosted service's API returns it.
type source struct {
	Name      string `json:"policyName"`
	Effect    string `json:"effect"`
	Condition string `json:"condition"`
	Consensus string `json:"consensus"`
	Time      string `json:"time"`
}

// importAll imports policies; the file that results must load.
func importAll(t *testing.T, sources ...source) (string, []hosted.Imported) {
	t.Helper()
	content, err := json.Marshal(sources)
	if err != nil {
		t.Fatal(err)
	}
	text, imported, err := hosted.Import(content)
	if err != nil {
		t.Fatal(err)
	}
	return text, imported
}

// importOne imports one policy, whose expression is its condition or its consensus.
func importOne(t *testing.T, effect, expression string) (hosted.Imported, string) {
	t.Helper()
	one := source{Name: "one", Effect: effect, Condition: expression}
	if strings.HasPrefix(expression, "approvers") || strings.HasPrefix(expression, "credentials") {
		one.Condition, one.Consensus = "", expression
	}
	text, imported := importAll(t, one)
	return imported[0], text
}

func load(t *testing.T, text string) *policy.File {
	t.Helper()
	file, err := policy.Parse("imported.yaml", []byte(text), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return file
}

// asked is a request for a transaction of a chain.
func asked(chain string, effects ...chains.Effect) access.Authorization {
	return access.Authorization{
		Chain: chain, Effects: effects, Intent: activity.SignTransactionIntent{},
	}
}

// hostedExpressions returns the expressions of the hosted service's documentation.
func hostedExpressions(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(testenv.Suite(t, "policies", "hosted_expressions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

var quotedPlaceholder = regexp.MustCompile(`'(<[^']*>?|\$\{[^']*\})'`)

// filledIn replaces a quoted placeholder for an address by an address of the chain.
func filledIn(expression string) string {
	address := treasury
	switch {
	case strings.Contains(expression, "solana."):
		address = wallet
	case strings.Contains(expression, "tron."):
		address = "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"
	}
	return quotedPlaceholder.ReplaceAllStringFunc(expression, func(text string) string {
		for _, word := range []string{"ADDRESS", "ROUTER", "TOKEN", "MINT", "CONTRACT", "recipient"} {
			if strings.Contains(text, word) {
				return "'" + address + "'"
			}
		}
		return text
	})
}

// TestImportHosted imports the expressions of the hosted service's documentation. Those
// that carry over load, and the others have a reason.
func TestImportHosted(t *testing.T) {
	carried := 0
	all := hostedExpressions(t)
	for _, expression := range all {
		one, file := importOne(t, "EFFECT_ALLOW", filledIn(expression))
		if one.Problem != "" {
			t.Logf("not carried over: %s\n\t%s", expression, one.Problem)
			continue
		}
		carried++
		load(t, file)
		t.Logf("%s\n%s", expression, one.Rule)
	}
	t.Logf("%d of %d carry over", carried, len(all))
	if len(all) != 168 || carried < wantCarried {
		t.Errorf("%d of %d carry over, want %d", carried, len(all), wantCarried)
	}
}

// wantCarried is the number of expressions that carry over. The rest are about activities
// that are not supported here (sessions, secrets, users, Spark), have placeholders or
// errors of their own, or use raw call data.
const wantCarried = 86

// TestImportedAllowList: an expression that the hosted service's documentation shows as an
// allow list, although it can be bypassed there, cannot be bypassed here.
func TestImportedAllowList(t *testing.T) {
	const fee = "  - {name: fee, allow: fee, when: 'effect.amount <= units(\"10000\")'}\n"
	native := solanaTransfer(t, wallet, chains.Native("solana"))
	mint := chains.PartyWritten(decode58("So11111111111111111111111111111111111111112"), "So11111111111111111111111111111111111111112")
	drain := solanaTransfer(t, stranger, chains.Token("solana", mint, "spl-token"))
	elsewhere := solanaTransfer(t, stranger, chains.Native("solana"))
	pays := chains.Effect{Kind: chains.KindFee, By: chains.BySigner, Asset: chains.Native("solana"), Amount: chains.ExactlyUint(5000)}
	authority := chains.Effect{Kind: chains.KindAuthority, By: chains.BySigner, To: drain.To}
	_, text := importOne(t, "EFFECT_ALLOW", "solana.tx.transfers.all(transfer, transfer.to == '"+wallet+"')")
	file := load(t, text+fee)
	for name, test := range map[string]struct {
		effects []chains.Effect
		allowed bool
	}{
		"the transfer":       {[]chains.Effect{native, pays}, true},
		"an SPL drain":       {[]chains.Effect{drain, pays}, false},
		"both":               {[]chains.Effect{native, drain, pays}, false},
		"another recipient":  {[]chains.Effect{native, elsewhere, pays}, false},
		"control given away": {[]chains.Effect{native, authority, pays}, false},
	} {
		if _, err := file.Decide(t.Context(), asked("solana", test.effects...)); (err == nil) != test.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestImportedActivityType: an allow of transactions allows neither messages nor one-time
// passwords, and an allow of all signing does not allow one-time passwords.
func TestImportedActivityType(t *testing.T) {
	intents := map[string]activity.Intent{
		"transaction": activity.SignTransactionIntent{}, "message": activity.SignRawPayloadIntent{}, "otp": activity.InitOTPAuthIntent{},
	}
	for condition, want := range map[string]string{
		"activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'": "transaction",
		"activity.kind == 'SIGN_TRANSACTION'":                  "transaction",
		"activity.action == 'SIGN'":                            "transaction message",
	} {
		_, text := importOne(t, "EFFECT_ALLOW", condition)
		file := load(t, text)
		for name, intent := range intents {
			request := asked("ethereum", chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner})
			request.Intent = intent
			if _, err := file.Decide(t.Context(), request); (err == nil) != strings.Contains(want, name) {
				t.Errorf("%s: %s: %v", condition, name, err)
			}
		}
	}
}

// TestImportedPrecedence: an operand of a comparison stays one operand.
func TestImportedPrecedence(t *testing.T) {
	for condition, want := range map[string]string{
		"(wallet.id == 'a' || wallet.id == 'b') == false":  "(key.wallet == ''a'' || key.wallet == ''b'') == false",
		"(wallet.id == 'a' && wallet.id == 'b') != true":   "(key.wallet == ''a'' && key.wallet == ''b'') != true",
		"false == (wallet.id in ['a'])":                    "false == (key.wallet in [''a''])",
		"(wallet.id == 'a' || wallet.id == 'b') in [true]": "(key.wallet == ''a'' || key.wallet == ''b'') in [true]",
	} {
		if one, _ := importOne(t, "EFFECT_ALLOW", condition); !strings.Contains(one.Rule, "when: '"+want+"'") {
			t.Errorf("%s: problem %q\n%s", condition, one.Problem, one.Rule)
		}
	}
}

// TestImportedFirstCall: a policy on calls[0] refuses transactions with more calls.
func TestImportedFirstCall(t *testing.T) {
	_, text := importOne(t, "EFFECT_ALLOW", "tempo.tx.calls[0].to == '"+treasury+"'")
	file := load(t, text)
	call := func(label, to string) chains.Field { return chains.List(label, chains.AddressField("to", to)) }
	for calls, allowed := range map[int]bool{1: true, 2: false} {
		request := asked("tempo", chains.Effect{Kind: chains.KindCall, By: chains.BySigner})
		fields := []chains.Field{call("call 1 of 2", treasury), call("call 2 of 2", thief)}[:calls]
		request.Summary = func() *chains.Summary { return &chains.Summary{Chain: request.Chain, Fields: fields} }
		if _, err := file.Decide(t.Context(), request); (err == nil) != allowed {
			t.Errorf("%d calls: %v\n%s", calls, err, text)
		}
	}
}

func solanaTransfer(t *testing.T, to string, asset chains.Asset) chains.Effect {
	t.Helper()
	return chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyWritten(decode58(to), to), Asset: asset, Amount: chains.ExactlyUint(1)}
}

func decode58(text string) []byte { return base58.Decode(text) }

// TestHostedTable checks the table of the hosted service's language in docs/policies.md: the
// left side is translated, or refused with a reason, and the right side loads.
func TestHostedTable(t *testing.T) {
	document, err := os.ReadFile("../../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		there, rule, problem string // the rule that it becomes, or why not
		here, on             string
	}{
		{"eth.tx.value < 500000000000000000", "when: 'eth.tx.value < wei(''500000000000000000'')'", "", "eth.tx.value < ether('0.5')", "ethereum"},
		{"eth.tx.to == '" + treasury + "'", "when: 'eth.tx.to == address(''" + treasury + "'')'", "", "eth.tx.to == address('" + treasury + "')", "ethereum"},
		{"eth.tx.data[0..10] == '0xa9059cbb'", "when: 'eth.tx.function_signature == ''0xa9059cbb'''", "", "eth.tx.function_signature == '0xa9059cbb'", "ethereum"},
		{"eth.tx.data[34..74] == 'ab'", "", "use effect.to, effect.from and effect.amount", "", ""},
		{"eth.tx.contract_call_args['to'] == 'ab'", "", "use effect.to, effect.asset and effect.amount", "", ""},
		{"solana.tx.transfers.all(t, t.to == '" + wallet + "')",
			"allow: transfer\n    on: solana\n    when: 'effect.asset.native && effect.to == address(''" + wallet + "'')'", "",
			"effect.asset.native && effect.to == address('" + wallet + "')", "solana"},
		{"solana.tx.transfers.any(t, t.to == 'ADDRESS_TABLE_LOOKUP')", "!has(t.to)", "", "!has(effect.to) || effect.unresolved.size() > 0", "solana"},
		{"tempo.tx.calls.any(c, c.to == '" + treasury + "')", "tempo.tx.calls.exists(c, c.to == address(", "", "tempo.tx.calls.exists(c, c.to == address('" + treasury + "'))", "tempo"},
		{"tempo.tx.calls.count() == 1", "tempo.tx.calls.size() == 1", "", "tempo.tx.calls.size() == 1", "tempo"},
		{"solana.tx.program_keys.contains('11111111111111111111111111111111')", "address(''11111111111111111111111111111111'') in solana.tx.program_keys", "",
			"address('11111111111111111111111111111111') in solana.tx.program_keys", "solana"},
		{"wallet.id == 'w'", "when: 'key.wallet == ''w'''", "", "key.wallet == 'w'", ""},
		{"private_key.id == 'k'", "when: 'key.id == ''k'''", "", "key.id == 'k'", ""},
		{"activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' && wallet.id == 'w'", "when: 'request.type.startsWith(''ACTIVITY_TYPE_SIGN_TRANSACTION'') && key.wallet == ''w'''", "", "", ""},
	} {
		one, _ := importOne(t, "EFFECT_ALLOW", row.there)
		if (one.Problem != "") != (row.problem != "") || !strings.Contains(one.Problem, row.problem) || !strings.Contains(one.Rule, row.rule) {
			t.Errorf("%s: problem %q\n%s\nwant %q %s", row.there, one.Problem, one.Rule, row.problem, row.rule)
		}
		if row.here == "" {
			continue
		}
		on := ""
		if row.on != "" {
			on = "on: " + row.on + ", "
		}
		load(t, "schema: countersign.policy/2\nrules:\n  - {name: a, allow: transfer, "+on+"when: '"+strings.ReplaceAll(row.here, "'", "''")+"'}\n")
	}
	for _, cell := range []string{"| `eth.tx.value < ether('0.5')` |", "| `!has(effect.to)`, `effect.unresolved` |", "| `key.wallet`, `key.id`, or the rule's `key` |"} {
		if !strings.Contains(string(document), cell) {
			t.Errorf("the table has no %s", cell)
		}
	}
}
