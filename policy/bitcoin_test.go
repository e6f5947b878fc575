package policy_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestBitcoinAddresses: the details of a Bitcoin transaction have scripts, with which an
// address of a rule is compared as a script.
func TestBitcoinAddresses(t *testing.T) {
	const address, script = "bc1q86sdxfzdwas2hr6n428jyg5up3u7vj5chdx0ug", "00143ea0d3244d7760ab8f53aa8f22229c0c79e64a98"
	for shown, want := range map[string]bool{address: true, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu": false} {
		asked := ask(chains.Effect{
			Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyWritten([]byte(script), script),
			Asset: chains.Native("bip122"), Amount: chains.ExactlyUint(90_000),
		})
		about(&asked, "bitcoin", chains.List("outputs", chains.List("output 0",
			chains.AmountUint("amount", 90_000, 8, "BTC"), chains.AddressField("address", script).ShownAs(address))))
		text := "schema: countersign.policy/2\nrules:\n  - {name: rule, allow: transfer, on: bitcoin, when: \"bitcoin.tx.outputs.all(o, o.address == address('" + shown + "'))\"}\n"
		if got, _ := decide(t, text, asked); (got == "allowed by rule") != want {
			t.Errorf("%s: %s", shown, got)
		}
	}
}

// TestBitcoinAddressesAreShown checks that a refusal shows a recipient on Bitcoin by its
// address, not by its script.
func TestBitcoinAddressesAreShown(t *testing.T) {
	const address = "bc1q86sdxfzdwas2hr6n428jyg5up3u7vj5chdx0ug"
	notation := &chains.Notation{Text: hex.EncodeToString, Shown: func([]byte) string { return address }}
	asked := ask(chains.Effect{
		Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyAt([]byte{0x00, 0x14}, notation),
		Asset: chains.Native("bip122"), Amount: chains.ExactlyUint(90_000),
	})
	text := "schema: countersign.policy/2\nrules:\n  - {name: rule, allow: transfer, when: \"effect.to == address('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')\"}\n"
	if got, _ := decide(t, text, asked); !strings.Contains(got, "transfer to "+address+")") {
		t.Error(got)
	}
	explanation, err := load(t, text).Explain(t.Context(), asked)
	testenv.Must(t, err)
	if !strings.Contains(explanation.String(), "effect.to is "+address) {
		t.Error(explanation)
	}
}
