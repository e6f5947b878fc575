package bitcoin_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// TestUnregisteredScripts: a key of a registered wallet in a script of several keys that is none
// of the wallet's is a hazard, and makes the wallet undecidable. So is a key of unknown origin. A
// key of another account is not, nor a script of one key.
func TestUnregisteredScripts(t *testing.T) {
	a, b, c, thief := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3), newCosigner(t, 7)
	policy := policyOf(t, "treasury", registeredForms[0], a, b, c)
	elsewhere := wallet.Path{48 + wallet.Hardened, wallet.Hardened, 9 + wallet.Hardened, 2 + wallet.Hardened, 0, 5}
	of := func(path wallet.Path) keystore.PublicKey {
		pub, err := a.root.PublicKey(path)
		testenv.Must(t, err)
		return pub
	}
	ours, foreign, other := of(a.path(false, 5)), thief.key(t, false, 5).PublicKey(), of(elsewhere)
	x := ours.XOnly()
	for name, test := range map[string]struct {
		spend    bitcointest.Spend
		pathless bool
		stray    bool
	}{
		"a 1-of-2 with a stranger":   {bitcointest.P2WSH(bitcointest.Multisig(1, ours, foreign)), false, true},
		"the wallet's keys, 1 of 3":  {spendOf(t, policyOf(t, "x", "wsh(sortedmulti(1,@0/**,@1/**,@2/**))", a, b, c), false, 5, a, b, c), false, true},
		"a stranger for one of them": {spendOf(t, policyOf(t, "x", registeredForms[0], a, thief, c), false, 5, a, thief, c), false, true},
		"nested":                     {bitcointest.Nested(bitcointest.P2WSH(bitcointest.Multisig(1, ours, foreign))), false, true},
		"P2SH":                       {bitcointest.P2SH(bitcointest.Multisig(1, ours, foreign)), false, true},
		"bare":                       {bitcointest.Spend{Script: bitcointest.Multisig(1, ours, foreign), Legacy: true}, false, true},
		"a leaf":                     {bitcointest.Taproot(bitcointest.NUMS, bitcointest.LeafMultisig(1, ours, foreign)), false, true},
		"a key path with a tree":     {bitcointest.Taproot(x[:], bitcointest.Leaf(foreign)), false, true},
		"of another account":         {bitcointest.P2WSH(bitcointest.Multisig(1, other, foreign)), false, false},
		"of another account, its origin not known": {bitcointest.P2WSH(bitcointest.Multisig(1, other, foreign)), true, true},
		"of one key":                       {bitcointest.P2WPKH(ours), false, false},
		"P2WSH of one key":                 {bitcointest.P2WSH(bitcointest.P2PK(ours).Script), false, false},
		"P2TR of one key":                  {bitcointest.BIP86(ours), false, false},
		"of one key, its origin not known": {bitcointest.P2WPKH(ours), true, false},
	} {
		h := newHouse(t, test.pathless, []*walletpolicy.Policy{policy}, []cosigner{a}, a.path(false, 5), elsewhere)
		for _, origins := range [][]bitcointest.Record{nil, origins(t, psbt.InBIP32Derivation, psbt.InTapBIP32Derivation, classifiedTaproot(test.spend), false, 5, a, b, c)} {
			spend := test.spend
			for _, record := range origins {
				if !slices.ContainsFunc(spend.Records, func(has bitcointest.Record) bool { return bytes.Equal(has.Key, record.Key) }) {
					spend.Records = append(slices.Clone(spend.Records), record)
				}
			}
			raw := bitcointest.PSBT{Inputs: []bitcointest.Input{spend.Input(100_000, 1)}, Outputs: []bitcointest.Output{bitcointest.P2WPKH(foreign).Output(95_000)}}.Encode()
			pub := ours
			if strings.Contains(name, "another account") {
				pub = other
			}
			key, err := h.Find(t.Context(), org, keystore.ByHash160(pub.Hash160()))
			testenv.Must(t, err)
			asked, _, err := h.sign(raw, key.ID())
			if test.stray != (err != nil && strings.Contains(err.Error(), bitcoin.HazardUnregisteredScript)) || !test.stray && (err != nil || asked.Wallet != nil || asked.MixedWallets) {
				t.Errorf("%s: %+v, %v", name, asked, err)
			}
		}
	}
}

func classifiedTaproot(spend bitcointest.Spend) bool { return spend.Script[0] == 0x51 }

// TestSameWalletTwice: a registry that has the same scripts under two names is not trusted with
// either; in the file keystore there can be none.
func TestSameWalletTwice(t *testing.T) {
	a, b, c := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3)
	one := policyOf(t, "treasury", registeredForms[0], a, b, c)
	sorted := []cosigner{a, b, c}
	slices.SortFunc(sorted, func(a, b cosigner) int {
		return bytes.Compare(a.key(t, false, 5).PublicKey().Bytes(), b.key(t, false, 5).PublicKey().Bytes())
	})
	raw := bitcointest.PSBT{
		Inputs:  []bitcointest.Input{spendOf(t, one, false, 5, a, b, c).Input(100_000, 1)},
		Outputs: []bitcointest.Output{outputTo(t, one, 90_000, true, 7, a, b, c)},
	}.Encode()
	for _, two := range []*walletpolicy.Policy{
		policyOf(t, "aaa", registeredForms[0], b, a, c), policyOf(t, "aaa", registeredForms[1], sorted...), // the same at this address
	} {
		h := newHouse(t, false, []*walletpolicy.Policy{two, one}, []cosigner{a, b}, a.path(false, 5))
		for _, signWith := range []string{"seed-0", "aaa", "treasury"} {
			if asked, _, err := h.sign(raw, signWith); err == nil || !strings.Contains(err.Error(), `wallet "aaa"`) || !strings.Contains(err.Error(), `wallet "treasury"`) {
				t.Errorf("%s: %+v, %v", signWith, asked, err)
			}
		}
	}
}

// TestReplacedWalletKeepsItsLimit: limits count by the scripts of a wallet, so that one that is
// replaced by the same in another order of keys, or under another name, goes on with what it spent.
func TestReplacedWalletKeepsItsLimit(t *testing.T) {
	a, b, c := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3)
	one := policyOf(t, "treasury", registeredForms[0], a, b, c)
	raw := bitcointest.PSBT{
		Inputs:  []bitcointest.Input{spendOf(t, one, false, 5, a, b, c).Input(100_000, 1)},
		Outputs: []bitcointest.Output{outputTo(t, one, 90_000, true, 7, a, b, c)},
	}.Encode()
	var counted []access.SigningWallet
	for _, policy := range []*walletpolicy.Policy{
		one, policyOf(t, "treasury", registeredForms[0], b, a, c), policyOf(t, "other", registeredForms[0], c, b, a),
		policyOf(t, "swapped", "wsh(sortedmulti(2,@0/<1;0>/*,@1/<1;0>/*,@2/<1;0>/*))", a, b, c),
		policyOf(t, "another wallet", registeredForms[0], a, b, newCosigner(t, 4)),
	} {
		h := newHouse(t, false, []*walletpolicy.Policy{policy}, []cosigner{a, b}, a.path(false, 5))
		asked, _, err := h.sign(raw, "seed-0")
		if err != nil {
			continue
		}
		counted = append(counted, *asked.Wallet)
	}
	if len(counted) != 4 {
		t.Fatalf("%+v", counted)
	}
	for _, w := range counted {
		if w.ID != counted[0].ID || w.ChargeID != counted[0].ChargeID {
			t.Errorf("%+v is counted apart from %+v", w, counted[0])
		}
	}
}

// TestHiddenBesideOwn: an input of a registered wallet that is not said to be one, beside one of a
// single key, is not counted for the wallet of that key.
func TestHiddenBesideOwn(t *testing.T) {
	a, b, c := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3)
	policy := policyOf(t, "treasury", registeredForms[0], a, b, c)
	h := newHouse(t, false, []*walletpolicy.Policy{policy}, []cosigner{a, b}, a.path(false, 5), a.path(false, 6))
	hidden := spendOf(t, policy, false, 5, a, b, c)
	hidden.Records = slices.DeleteFunc(hidden.Records, func(r bitcointest.Record) bool { return r.Key[0] == psbt.InBIP32Derivation })
	for name, own := range map[string]keystore.PublicKey{"another key": a.key(t, false, 6).PublicKey(), "the same key": a.key(t, false, 5).PublicKey()} {
		raw := bitcointest.PSBT{
			Inputs:  []bitcointest.Input{hidden.Input(100_000, 1), bitcointest.P2WPKH(own).Input(50_000, 2)},
			Outputs: []bitcointest.Output{bitcointest.P2WPKH(own).Output(140_000)},
		}.Encode()
		asked, _, err := h.sign(raw, "seed-0")
		if err != nil || asked.Wallet != nil || !asked.MixedWallets {
			t.Errorf("%s: %+v, %v", name, asked, err)
		}
	}
}
