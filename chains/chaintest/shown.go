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

// checkSummary checks that the summary depends on the bytes alone: neither a key nor
// signing changes it.
func checkSummary(t *testing.T, chain chains.Chain, sample Sample) {
	unchanged(t, sample.Raw)
	before := parse(t, chain, sample.Raw).Summary().Digest()
	tx := parse(t, chain, bytes.Clone(sample.Raw))
	signing := ready(t, tx, sample)
	signing.SignerView()
	signing.Effects()
	if _, err := signing.AppendSigned(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	summary := tx.Summary()
	if summary.Digest() != before {
		t.Error("the summary depends on more than the bytes")
	}
	form, err := summary.MarshalJSON()
	if want := `{"schema":"countersign.summary/`; err != nil || !strings.HasPrefix(string(form), want) ||
		!strings.Contains(string(form), `"chain":"`+chain.Name()+`"`) {
		t.Errorf("canonical form %s (%v), want %s…", form, err, want)
	}
	var out bytes.Buffer
	if render(t, &out, summary.Fields); out.Len() == 0 {
		t.Error("there are no fields")
	}
}

// checkEffects checks that effects are consistent, that those of the signing are those of
// the transaction with the signer resolved, and that hazards point at existing effects.
func checkEffects(t *testing.T, chain chains.Chain, sample Sample) {
	tx := parse(t, chain, sample.Raw)
	effects := tx.Effects()
	if len(effects) > chains.MaxEffects {
		t.Errorf("%d effects", len(effects))
	}
	for i, effect := range effects {
		CheckEffect(t, i, effect)
	}
	signing := ready(t, tx, sample)
	resolved := signing.Effects()
	if len(resolved) != len(effects) {
		t.Fatalf("%d effects with a key, %d without", len(resolved), len(effects))
	}
	for i, effect := range resolved {
		if effect.Kind != effects[i].Kind || effect.From.IsSigner() || effect.To.IsSigner() || effect.Account.IsSigner() {
			t.Errorf("effect %d of the signing is %+v", i, effect)
		}
	}
	checkIndices(t, tx.Hazards(), effects)
	checkIndices(t, signing.Hazards(), resolved)
}

// checkIndices checks that hazards point at effects, or at those that follow from them together.
func checkIndices(t testing.TB, hazards []chains.Hazard, effects []chains.Effect) {
	t.Helper()
	followed, _ := chains.Follow(effects)
	for _, hazard := range hazards {
		if index, ok := hazard.Effect(); ok && index >= len(followed) {
			t.Errorf("%s points at effect %d of %d", hazard.Name, index, len(followed))
		}
	}
}

// CheckEffect checks that an effect's members are consistent.
func CheckEffect(t testing.TB, index int, effect chains.Effect) {
	t.Helper()
	amounts := effect.Amount.IsNone() == effect.Asset.IsNone()
	switch {
	case !slices.Contains(chains.Kinds(), effect.Kind):
		t.Errorf("effect %d is of unknown kind %q", index, effect.Kind)
	case effect.By != chains.BySigner && effect.By != chains.ByOther && effect.By != chains.ByStanding:
		t.Errorf("effect %d (%s) is by %q", index, effect.Kind, effect.By)
	case effect.Undecoded && effect.Kind != chains.KindCall && effect.Kind != chains.KindMessage:
		t.Errorf("effect %d (%s) is not decoded: it must be a call", index, effect.Kind)
	case (effect.Kind == chains.KindTransfer || effect.Kind == chains.KindReceive) && (effect.Asset.IsNone() ||
		effect.To.IsNone() || !amounts):
		t.Errorf("effect %d: a transfer or receipt without asset, amount or recipient: %+v", index, effect)
	case effect.Kind == chains.KindFee && (effect.Asset.IsNone() || effect.Amount.IsNone()):
		t.Errorf("effect %d: a fee without an amount", index)
	}
	checkUnresolved(t, index, effect)
}

// checkUnresolved checks that members which are unresolved are unknown. Other names are those of
// accounts.
func checkUnresolved(t testing.TB, index int, effect chains.Effect) {
	t.Helper()
	for member, unknown := range map[string]bool{"to": effect.To.IsUnknown(), "from": effect.From.IsUnknown(),
		"account": effect.Account.IsUnknown(), "asset": effect.Asset.IsUnknown()} {
		if slices.Contains(effect.Unresolved, member) && !unknown {
			t.Errorf("effect %d has the unresolved %s and knows it", index, member)
		}
	}
}

// checkAddresses checks that each of the key's addresses, as signWith, leads to the key and
// to no other.
func checkAddresses(t *testing.T, chain chains.Chain, sample Sample) {
	own, err := locators(sample.Key)
	if err != nil {
		t.Fatal(err)
	}
	leading := 0
	for _, address := range chain.Addresses(sample.Key.PublicKey()) {
		if address.Format == "" || address.Address == "" {
			t.Errorf("%+v is incomplete", address)
		}
		request, err := parse(t, chain, sample.Raw).Request(address.Address)
		switch {
		case errors.Is(err, chains.ErrNotSigner):
		case err != nil:
			t.Errorf("%s: %v", address.Address, err)
		case !slices.ContainsFunc(request.Locators(), func(locator keystore.Locator) bool { return slices.Contains(own, locator) }):
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

// checkSigner checks that a key signs with its own address, and no other key does.
func checkSigner(t *testing.T, chain chains.Chain, sample Sample, address string) {
	signed, err := Sign(t.Context(), chain, sample.Raw, address, sample.Key)
	if (err == nil) != (signed != nil) || err != nil && !errors.Is(err, chains.ErrNotSigner) {
		t.Errorf("%s: %x, %v", address, signed, err)
	}
	other := Key(t, sample.Key.PublicKey().Curve(), bytes.Repeat([]byte{7}, keystore.SecretSize))
	if signed, err := Sign(t.Context(), chain, sample.Raw, address, other); signed != nil || !errors.Is(err, chains.ErrNotSigner) {
		t.Errorf("with another key than that of %s: %x, %v", address, signed, err)
	}
}

func locators(key keystore.Key) ([]keystore.Locator, error) {
	locators := append(keystore.Locators(key.PublicKey()), keystore.ByID(key.ID()))
	if key.PublicKey().Curve() != keystore.CurveSecp256k1 {
		return locators, nil
	}
	taproot, err := keystore.TaprootLocator(key.PublicKey())
	if err != nil {
		return nil, err
	}
	nested, err := keystore.NestedLocator(key.PublicKey())
	return append(locators, taproot, nested), err
}

// checkKeyID checks that a text that is not an address is a key's id.
func checkKeyID(t *testing.T, chain chains.Chain, sample Sample) {
	for _, id := range []string{sample.Key.ID(), "hot wallet", "01234567-89ab-cdef-0123-456789abcdef"} {
		request, err := parse(t, chain, sample.Raw).Request(id)
		if err != nil || !slices.Contains(request.Locators(), keystore.ByID(id)) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
