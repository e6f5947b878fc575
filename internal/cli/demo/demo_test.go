package demo

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// TestDemoHasEveryChain: a chain that is added to the engine must be added to the demo.
func TestDemoHasEveryChain(t *testing.T) {
	shown := map[activity.TransactionType]bool{}
	for _, chain := range Chains {
		shown[chain.Kind] = true
	}
	for _, kind := range all.TransactionTypes() {
		if !shown[kind] {
			t.Errorf("the demo does not show %s", kind)
		}
	}
}

// TestDemoChecksCanFail: the checks of the demo detect a signature by another key, an
// altered transaction, and input that is not a transaction.
func TestDemoChecksCanFail(t *testing.T) {
	keys := memory.New()
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, chain := range Chains {
		signer, other := demoKey(t, keys, chain), demoKey(t, keys, chain)
		unsigned := chain.Unsigned(signer.PublicKey)
		result, err := engine.SignTransaction(t.Context(), deployment.DefaultOrganization, chain.intent(signer, unsigned))
		if err != nil {
			t.Fatal(err)
		}
		signed := result.SignedTransaction
		if found, err := chain.Check(signed, signer.PublicKey); err != nil || found == "" {
			t.Errorf("%s: %q, %v", chain.Name, found, err)
		}
		if found, err := chain.Check(signed, other.PublicKey); err == nil {
			t.Errorf("%s: signed by another key: %s", chain.Name, found)
		}
		for i := range len(signed) {
			if found, err := chain.Check(flipDigit(signed, i), signer.PublicKey); err == nil {
				t.Errorf("%s: digit %d altered: %s", chain.Name, i, found)
			}
		}
		for _, text := range []string{"", "00", "zz", unsigned} {
			if found, err := chain.Check(text, signer.PublicKey); err == nil {
				t.Errorf("%s: %q: %s", chain.Name, text, found)
			}
		}
	}
}

func demoKey(t *testing.T, keys *memory.Store, chain Chain) keystore.KeyInfo {
	t.Helper()
	key, err := keys.Generate(t.Context(), deployment.DefaultOrganization, "", chain.Curve)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// flipDigit returns a text with one hex digit changed.
func flipDigit(text string, index int) string {
	digit := strings.IndexByte("0123456789abcdef", text[index]) ^ 1
	return text[:index] + string("0123456789abcdef"[digit]) + text[index+1:]
}
