package chaintest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore"
)

// Sample is an unsigned transaction that a key can sign.
type Sample struct {
	Raw []byte
	Key keystore.Key
}

// Run tests that a chain keeps the contract of chains.Chain. Samples are given by name.
func Run(t *testing.T, chain chains.Chain, samples map[string]Sample) {
	if len(samples) == 0 {
		t.Fatal("no samples")
	}
	t.Run("Name", func(t *testing.T) { checkName(t, chain) })
	t.Run("HazardNames", func(t *testing.T) { checkHazardNames(t, chain) })
	t.Run("Nothing", func(t *testing.T) { checkRefusal(t, chain, nil); checkRefusal(t, chain, []byte{}) })
	for name, sample := range samples {
		t.Run(name, func(t *testing.T) {
			for what, check := range checks {
				t.Run(what, func(t *testing.T) { check(t, chain, sample) })
			}
		})
	}
}

var checks = map[string]func(*testing.T, chains.Chain, Sample){
	"Addresses":       checkAddresses,
	"KeyID":           checkKeyID,
	"Summary":         checkSummary,
	"Hazards":         checkHazards,
	"Effects":         checkEffects,
	"Sign":            checkSign,
	"SignInParallel":  checkParallel,
	"CancelledSign":   checkCancelled,
	"FailingKey":      checkFailingKey,
	"KeyOfOtherCurve": checkOtherCurve,
	"Cut":             checkCut,
	"Trailing":        checkTrailing,
}

func checkName(t *testing.T, chain chains.Chain) {
	if name := chain.Name(); name == "" || name != strings.ToLower(name) {
		t.Errorf("the name %q is empty or not in lower case", name)
	}
	if chain.Expects() == "" {
		t.Error("Expects is empty")
	}
}

func checkHazardNames(t *testing.T, chain chains.Chain) {
	names := chain.HazardNames()
	for _, name := range names {
		if what, ok := strings.CutPrefix(name, chain.Name()+"/"); !ok || what == "" {
			t.Errorf("%s is not %s/something", name, chain.Name())
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("%v has a name twice", names)
	}
}

// checkHazards checks that hazards are in the closed list and have a detail.
func checkHazards(t *testing.T, chain chains.Chain, sample Sample) {
	tx := parse(t, chain, sample.Raw)
	for _, hazard := range slices.Concat(tx.Hazards(), ready(t, tx, sample).Hazards()) {
		if !slices.Contains(append(texts.HazardNames(), chain.HazardNames()...), hazard.Name) {
			t.Errorf("%s is not in the closed list", hazard.Name)
		}
		if hazard.Detail == "" {
			t.Errorf("%s has no detail", hazard.Name)
		}
	}
}

func parse(t testing.TB, chain chains.Chain, raw []byte) chains.Transaction {
	t.Helper()
	tx, err := chain.Parse(raw)
	if err != nil {
		t.Fatalf("%x: %v", raw, err)
	}
	return tx
}

// unchanged checks at the end of the test that raw bytes were not written to.
func unchanged(t testing.TB, raw []byte) {
	t.Helper()
	before := bytes.Clone(raw)
	t.Cleanup(func() {
		if !bytes.Equal(raw, before) {
			t.Errorf("%x: the input was written to: %x", before, raw)
		}
	})
}
