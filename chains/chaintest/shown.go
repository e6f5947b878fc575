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
			checkSigner(t, chain, sample, address.Address)
		}
	}
	if leading == 0 {
		t.Error("no address of the key leads to it")
	}
}

// checkSigner: with an address signs the key that is there, if the transaction
// needs it by this address, and no other one that a backend may come up with.
func checkSigner(t *testing.T, chain chains.Chain, sample Sample, address string) {
	tx := parse(t, chain, sample.Raw)
	refused := tx.Check(sample.Key, address)
	if refused != nil && !errors.Is(refused, chains.ErrNotSigner) {
		t.Errorf("%s: check: %v", address, refused)
	}
	if signed, err := tx.AppendSigned(t.Context(), nil, sample.Key, address); (err == nil) != (refused == nil) || (err == nil) != (signed != nil) {
		t.Errorf("%s: sign: %x, %v, though check says %v", address, signed, err, refused)
	}
	other := Key(t, sample.Key.PublicKey().Curve(), bytes.Repeat([]byte{7}, keystore.SecretSize))
	if err := tx.Check(other, address); !errors.Is(err, chains.ErrNotSigner) {
		t.Errorf("another key than that of %s: check: %v", address, err)
	}
	if signed, err := tx.AppendSigned(t.Context(), nil, other, address); signed != nil || !errors.Is(err, chains.ErrNotSigner) {
		t.Errorf("another key than that of %s: sign: %x, %v", address, signed, err)
	}
	if spelled, ok := tx.(chains.Spelled); ok {
		checkSpelling(t, tx, spelled, sample.Key, address)
	}
}

// checkSpelling: of all slips in one character, and letters in the other case, the
// key signs for those that CheckSpelling lets pass.
func checkSpelling(t *testing.T, tx chains.Transaction, spelled chains.Spelled, key keystore.Key, address string) {
	if err := spelled.CheckSpelling(address); err != nil {
		t.Errorf("%s: %v", address, err)
	}
	refused := 0
	for at := range address {
		for _, char := range []byte{address[at] ^ 0x20, '7', 'a', 'B'} {
			slip := address[:at] + string(char) + address[at+1:]
			found, err := tx.Signers(slip)
			if slip == address || err != nil || found[0].Kind() == keystore.LocateByID {
				continue
			}
			want, pub := spelled.CheckSpelling(slip), key.PublicKey()
			switch err := tx.Check(key, slip); {
			case want != nil && (!errors.Is(want, chains.ErrSignWith) || err == nil || err.Error() != want.Error()):
				t.Errorf("%s: %v, though %v", slip, err, want)
			case want == nil && (err == nil) != found[0].Locates(&pub):
				t.Errorf("%s: %v, though it is spelled right", slip, err)
			}
			if want != nil {
				refused++
			}
		}
	}
	if refused == 0 && strings.ToLower(address) != address {
		t.Errorf("no slip in %s was refused", address)
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
