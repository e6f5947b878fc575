package chaintest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// checkSummary: it is a function of the bytes alone, names its chain and its
// schema, and can be rendered.
func checkSummary(t *testing.T, chain chains.Chain, sample Sample) {
	unchanged(t, sample.Raw)
	before := parse(t, chain, sample.Raw).Summary().Digest()
	tx := parse(t, chain, bytes.Clone(sample.Raw))
	tx.SignerView(sample.Key.PublicKey())
	if _, err := tx.AppendSigned(t.Context(), nil, sample.Key, sample.Key.ID()); err != nil {
		t.Fatal(err)
	}
	summary := tx.Summary()
	if summary.Digest() != before {
		t.Error("the summary depends on more than the bytes")
	}
	form, err := summary.MarshalJSON()
	if want := `{"schema":"countersign.summary/1","chain":"` + chain.Name() + `","fields":[`; err != nil || !strings.HasPrefix(string(form), want) {
		t.Errorf("canonical form %s (%v), want %s…", form, err, want)
	}
	var out bytes.Buffer
	if render(t, &out, summary.Fields); out.Len() == 0 {
		t.Error("nothing is shown")
	}
}

// checkAddresses: each of the key's addresses leads back to the key, or has
// nothing to do with this transaction; one of them has.
func checkAddresses(t *testing.T, chain chains.Chain, sample Sample) {
	tx := parse(t, chain, sample.Raw)
	own, err := locators(sample.Key)
	if err != nil {
		t.Fatal(err)
	}
	leading := 0
	for _, address := range chain.Addresses(sample.Key.PublicKey()) {
		if address.Format == "" || address.Address == "" {
			t.Errorf("%+v says too little", address)
		}
		found, err := tx.Signers(address.Address)
		switch {
		case errors.Is(err, chains.ErrNotSigner):
		case err != nil:
			t.Errorf("%s: %v", address.Address, err)
		case !slices.ContainsFunc(found, func(at keystore.Locator) bool { return slices.Contains(own, at) }):
			t.Errorf("%s does not lead to its key", address.Address)
		default:
			leading++
		}
	}
	if leading == 0 {
		t.Error("no address of the key leads to it")
	}
}

func locators(key keystore.Key) ([]keystore.Locator, error) {
	all := append(keystore.Locators(key.PublicKey()), keystore.ByID(key.ID()))
	if key.PublicKey().Curve() != keystore.CurveSecp256k1 {
		return all, nil
	}
	taproot, err := keystore.TaprootLocator(key.PublicKey())
	return append(all, taproot), err
}

// checkKeyID: what is no address is the id of a key.
func checkKeyID(t *testing.T, chain chains.Chain, sample Sample) {
	tx := parse(t, chain, sample.Raw)
	for _, id := range []string{sample.Key.ID(), "hot wallet", "01234567-89ab-cdef-0123-456789abcdef"} {
		found, err := tx.Signers(id)
		if err != nil || !slices.Contains(found, keystore.ByID(id)) {
			t.Errorf("%q leads to %v (%v)", id, found, err)
		}
	}
}
