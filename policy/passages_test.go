package policy_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/store/memory"
)

// TestStakeEmptiedBeforeItIsOurs: the sample for stake operations refuses the transaction that
// makes our stake and, by the stake's own signature, empties it before. It names what leaves.
func TestStakeEmptiedBeforeItIsOurs(t *testing.T) {
	var recorded struct{ Class, Transaction string }
	raw, err := os.ReadFile("testdata/passages.json")
	if err == nil {
		err = json.Unmarshal(raw, &recorded)
	}
	testenv.Must(t, err)
	const ours = "Bow1CGKGDB9mNxeWdw85E2aCthQ1oZX4oFEe7fYT17ew"
	seed := bytes.Repeat([]byte{0x22}, 32)
	held := keys.New()
	if _, err := held.Add(t.Context(), "org", keystore.NewKey{Name: "ops", Curve: keystore.CurveEd25519, Secret: seed}); err != nil {
		t.Fatal(err)
	}
	config := countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: held, Store: memory.New(0)}
	intent := activity.SignTransactionIntent{SignWith: ours, Type: activity.TransactionTypeSolana, UnsignedTransaction: recorded.Transaction}

	engine, err := countersign.New(config)
	testenv.Must(t, err)
	prepared, err := engine.Prepare(t.Context(), "org", intent)
	testenv.Must(t, err)
	effects, err := prepared.Effects(t.Context())
	testenv.Must(t, err)
	last := effects[len(effects)-1]
	const want = "send 999.99771712 SOL from GfVvzPkT2vzrLGQkghSBWDtitzv9vHgM5c7bPmw2URZd to AYckEk2t9ct69UWpugdGEMPhmLtVy4uVnzqgcbtyMtoA, which this signature put there"
	if last.By != chains.BySigner || len(effects) != len(prepared.Summary().Effects)+1 {
		t.Errorf("%d effects, the last %+v", len(effects), last)
	}
	if text := chains.Sentence(last, nil); text != want {
		t.Errorf("%q, want %q", text, want)
	}

	sample := testenv.SamplePolicies(t)["Stake operations"]
	engines.WithPolicy(t, strings.ReplaceAll(sample, "Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz", ours))(&config)
	if engine, err = countersign.New(config); err != nil {
		t.Fatal(err)
	}
	_, err = engine.As(access.User{ID: "ann", Tags: []string{"ops"}}, "").SignTransaction(t.Context(), "org", intent)
	if err == nil || !strings.Contains(err.Error(), "transfer to AYckEk2t9ct69UWpugdGEMPhmLtVy4uVnzqgcbtyMtoA") {
		t.Errorf("the sample answers %v", err)
	}
}
