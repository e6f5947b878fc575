package hosted_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// TestImportKeepsDenies: nothing that a deny of the hosted service may have named is
// allowed by the imported file, whether the deny could be carried over or not.
func TestImportKeepsDenies(t *testing.T) {
	allow := source{Name: "allow all", Effect: "EFFECT_ALLOW", Consensus: "true", Condition: "true"}
	for _, test := range []struct {
		deny source
		rule string // what stands for it
		on   string // a chain that stays allowed; empty for none
	}{
		{source{Effect: "EFFECT_DENY", Condition: "eth.tx.gas * eth.tx.gas_price > 1000000", Consensus: "true"}, "deny: request\n    on: ethereum\n", "solana"},
		{source{Effect: "EFFECT_DENY", Condition: "eth.tx.data[0..10] == '0xa9059cbb' && eth.tx.data[74..138] != '00'"}, "deny: request\n    on: ethereum\n", "solana"},
		{source{Effect: "EFFECT_DENY", Condition: "!(eth.tx.data[74..138] == '00')"}, "deny: request\n", ""},
		{source{Effect: "EFFECT_DENY", Condition: "eth.tx.data[74..138] == '00' || activity.action == 'X'"}, "deny: request\n", ""},
		{source{Effect: "EFFECT_DENY", Condition: "eth.tx.gas * 2 > 5 && solana.tx.foo == 1"}, "deny: request\n", ""},
		{source{Effect: "EFFECT_DENY", Condition: "eth.tx.foo == 'it\\'s' && 'solana.tx' != 'x'"}, "deny: request\n    on: ethereum\n", "solana"},
		{source{Effect: "EFFECT_DENY", Condition: "eth.tx.foo == 'unfinished"}, "deny: request\n", ""},
		{source{Effect: "EFFECT_DENY", Condition: "eth.tx.value > 5", Consensus: "approvers.any(user, user.id == 'u-1')"}, "deny: request\n    on: ethereum\n", "solana"},
		{source{Effect: "EFFECT_DENY", Condition: "eth.tx.value > 5", Time: "09:00"}, "deny: request\n    on: ethereum\n", "solana"},
		{source{Effect: "EFFECT_DENY", Consensus: "credentials.any(c, c.id == 'abc')"}, "deny: request\n", ""},
		{source{Effect: "EFFECT_DENY", Condition: "activity.resource == 'WALLET'"}, "deny: request\n", ""},
		{source{Effect: "EFFECT_DENY"}, "deny: request\n", ""},
		{source{Effect: "EFFECT_DENY", Consensus: "true"}, "deny: request\n", ""},
		{source{Effect: "effect_deny", Condition: "eth.tx.value > 5"}, "deny: request\n    on: ethereum\n", "solana"},
		{source{Condition: "true"}, "deny: request\n", ""},
	} {
		test.deny.Name = "the deny"
		text, imported := importAll(t, allow, test.deny)
		if !strings.HasSuffix(imported[1].Rule, test.rule) {
			t.Errorf("%+v: %q, want %q", test.deny, imported[1].Rule, test.rule)
		}
		file := load(t, text)
		for _, chain := range []string{"ethereum", "solana"} {
			_, err := file.Decide(t.Context(), asked(chain, chains.Effect{Kind: chains.KindMessage, By: chains.BySigner}))
			if (err == nil) != (chain == test.on) {
				t.Errorf("%+v on %s: %v\n%s", test.deny, chain, err, text)
			}
		}
	}
	text, imported := importAll(t, source{Name: "carried", Effect: "EFFECT_DENY", Consensus: "true", Condition: "eth.tx.nonce == 7"})
	if imported[0].Problem != "" || !strings.Contains(text, "deny: request\n    on: ethereum\n    when: 'eth.tx.nonce == 7'") {
		t.Errorf("a deny with the consensus true: %q\n%s", imported[0].Problem, text)
	}
}

// TestImportDropsNoDeny: whatever text a deny has, its rule is in the file and active.
func TestImportDropsNoDeny(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 1))
	parts := []string{"eth.tx.to", "solana.tx.transfers.all(x, x.to == 'a')", " == ", " && ", " || ", "!", "(", ")", "'a'", "'", "\"", "5", "[0..8]", "true", "activity.action", "\n", "#", ": ", "wallet.id", "<ADDRESS>"}
	draw := func() string {
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		return text.String()
	}
	for range 2000 {
		deny := source{Name: draw(), Effect: []string{"EFFECT_DENY", "", "DENY"}[random.IntN(3)], Condition: draw(), Consensus: draw()}
		text, imported := importAll(t, deny)
		file := load(t, text)
		if len(file.Rules()) != 1 || !strings.Contains(imported[0].Rule, "    deny: ") {
			t.Fatalf("%+v has the rules %v\n%s", deny, file.Rules(), text)
		}
	}
}
