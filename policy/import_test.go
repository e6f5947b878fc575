package policy_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// hostedExpressions are the expressions of the hosted service's documentation.
func hostedExpressions(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(testenv.Suite(t, "policies", "hosted_expressions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

var quotedPlaceholder = regexp.MustCompile(`'(<[^']*>?|\$\{[^']*\})'`)

// filledIn puts an address of the chain where the documentation has a
// placeholder in quotes, if that is compared with an address.
func filledIn(expression string) string {
	address := treasury
	switch {
	case strings.Contains(expression, "solana."):
		address = "Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz"
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

func importOne(t *testing.T, effect, expression string) (policy.Imported, string) {
	t.Helper()
	hosted := policy.HostedPolicy{Name: "one", Effect: effect, Condition: expression}
	if strings.HasPrefix(expression, "approvers") || strings.HasPrefix(expression, "credentials") {
		hosted.Condition, hosted.Consensus = "", expression
	}
	content, err := json.Marshal([]policy.HostedPolicy{hosted})
	if err != nil {
		t.Fatal(err)
	}
	file, imported, err := policy.Import(content)
	if err != nil {
		t.Fatal(err)
	}
	return imported[0], file
}

// TestImportHosted counts what of the hosted service's documentation carries
// over. Each that does loads; each that does not has a reason.
func TestImportHosted(t *testing.T) {
	carried := 0
	reasons := map[string]int{}
	all := hostedExpressions(t)
	for _, expression := range all {
		one, file := importOne(t, "EFFECT_ALLOW", filledIn(expression))
		if one.Problem != "" {
			reasons[one.Problem]++
			t.Logf("not carried over: %s\n\t%s", expression, one.Problem)
			continue
		}
		carried++
		if _, err := policy.Parse("imported", []byte(file), policy.Options{}); err != nil {
			t.Errorf("%s\n%s\n%v", expression, file, err)
		}
		t.Logf("%s\n%s", expression, one.Rule)
	}
	for _, reason := range slices.Sorted(func(yield func(string) bool) {
		for reason := range reasons {
			if !yield(reason) {
				return
			}
		}
	}) {
		t.Logf("%3d %s", reasons[reason], reason)
	}
	t.Logf("%d of %d carry over", carried, len(all))
	if len(all) != 168 || carried < wantCarried {
		t.Errorf("%d of %d carry over, want %d", carried, len(all), wantCarried)
	}
}

// wantCarried is how many carried over when this was written. The rest are about
// activities that are not served here (sessions, secrets, users, Spark), have
// placeholders or errors of their own, or look at raw call data.
const wantCarried = 86

// TestImportedListsCannotBeBypassed: what the hosted service's documentation
// shows as an allow list, and is none there, is one here.
func TestImportedListsCannotBeBypassed(t *testing.T) {
	const wallet = "Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz"
	const fee = "  - {name: fee, allow: fee, when: 'effect.amount <= units(\"10000\")'}\n"
	native := solanaTransfer(t, wallet, chains.Native("solana"))
	mint := chains.PartyWritten(decode58("So11111111111111111111111111111111111111112"), "So11111111111111111111111111111111111111112")
	drain := solanaTransfer(t, "GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu", chains.Token("solana", mint, "spl-token"))
	elsewhere := solanaTransfer(t, "GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu", chains.Native("solana"))
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
		asked := ask(test.effects...)
		asked.Summary = &chains.Summary{Chain: "solana"}
		if _, err := file.Decide(t.Context(), asked); (err == nil) != test.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestImportedFirstCall: a policy on calls[0] takes no transaction with more calls.
func TestImportedFirstCall(t *testing.T) {
	_, text := importOne(t, "EFFECT_ALLOW", "tempo.tx.calls[0].to == '"+treasury+"'")
	file := load(t, text)
	call := func(label, to string) chains.Field { return chains.List(label, chains.AddressField("to", to)) }
	for calls, allowed := range map[int]bool{1: true, 2: false} {
		asked := ask(chains.Effect{Kind: chains.KindCall, By: chains.BySigner})
		asked.Summary = &chains.Summary{Chain: "tempo", Fields: []chains.Field{call("call 1 of 2", treasury), call("call 2 of 2", thief)}[:calls]}
		if _, err := file.Decide(t.Context(), asked); (err == nil) != allowed {
			t.Errorf("%d calls: %v\n%s", calls, err, text)
		}
	}
}

func solanaTransfer(t *testing.T, to string, asset chains.Asset) chains.Effect {
	t.Helper()
	return chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyWritten(decode58(to), to), Asset: asset, Amount: chains.ExactlyUint(1)}
}

func decode58(text string) []byte { return base58.Decode(text) }
