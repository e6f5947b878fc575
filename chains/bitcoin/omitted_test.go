package bitcoin_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// This file tests that a requester who leaves something out, or says something false, gets no
// more than one who says all and the truth: whose an input is follows from the keys.

// house is an organization with the seeds of cosigners and registered wallets. It records what
// its policy is asked.
type house struct {
	*memory.Store
	t          testing.TB
	seeds      []keystore.Wallet
	registered []keystore.Registration
	asked      *access.Authorization
}

const org = "org"

// newHouse returns an organization that has derived the keys of some addresses. pathless keys were
// imported one by one: nothing is known of where they come from.
func newHouse(t testing.TB, pathless bool, policies []*walletpolicy.Policy, seeds []cosigner, at ...wallet.Path) *house {
	t.Helper()
	h := &house{Store: memory.New(), t: t}
	for _, p := range policies {
		h.registered = append(h.registered, keystore.Registration{RegisteredWallet: p})
	}
	for i, seed := range seeds {
		w := keystore.Wallet{ID: fmt.Sprintf("seed-%d", i), Name: fmt.Sprintf("seed %d", i)}
		for _, path := range at {
			secret, err := seed.root.Derive(keystore.CurveSecp256k1, path)
			testenv.Must(t, err)
			info, err := h.Add(t.Context(), org, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
			testenv.Must(t, err)
			w.Accounts = append(w.Accounts, keystore.Account{KeyInfo: info, Path: path.String()})
		}
		if !pathless {
			h.seeds = append(h.seeds, w)
		}
	}
	return h
}

func (h *house) Registered(context.Context, string) ([]keystore.Registration, error) {
	return h.registered, nil
}

func (h *house) FindWallet(_ context.Context, _, idOrName string) (keystore.Wallet, error) {
	for _, w := range h.seeds {
		if w.ID == idOrName || w.Name == idOrName {
			return w, nil
		}
	}
	return keystore.Wallet{}, keystore.ErrKeyNotFound
}

func (h *house) WalletOf(_ context.Context, _, keyID string) (keystore.Wallet, error) {
	for _, w := range h.seeds {
		if _, ok := w.Account(keyID); ok {
			return w, nil
		}
	}
	return keystore.Wallet{}, keystore.ErrKeyNotFound
}

func (h *house) Authorize(_ context.Context, asked access.Authorization) error {
	h.asked = &asked
	return nil
}

// sign has an engine without allowed hazards sign. It returns what the policy was asked.
func (h *house) sign(raw []byte, signWith string) (*access.Authorization, []byte, error) {
	h.t.Helper()
	h.asked = nil
	engine, err := countersign.New(countersign.Config{Keystore: h, Chains: []chains.Chain{bitcoin.New(bitcoin.Limits{})}, Policy: h, Wallets: h})
	testenv.Must(h.t, err)
	result, err := engine.As(access.User{ID: "u-1"}, "").SignTransaction(h.t.Context(), org, activity.SignTransactionIntent{
		Type: activity.TransactionTypeBitcoin, SignWith: signWith, UnsignedTransaction: hex.EncodeToString(raw),
	})
	if err != nil {
		return nil, nil, err
	}
	return h.asked, chaintest.Unhex(h.t, result.SignedTransaction), nil
}

// spent is what limits count.
func spent(asked *access.Authorization) int64 {
	sum, _ := charge(asked.Effects)
	return sum
}

// noMore checks that a request that was signed is judged as the treasury's, and is counted for no
// less than the true one.
func noMore(t *testing.T, what string, truth, asked *access.Authorization) {
	t.Helper()
	if asked.Wallet == nil || asked.Wallet.ID != truth.Wallet.ID || asked.Wallet.ChargeID != truth.Wallet.ChargeID || asked.MixedWallets || spent(asked) < spent(truth) {
		t.Errorf("%s: signed as of %+v, mixed %t, %d spent; in truth of %+v, %d spent", what, asked.Wallet, asked.MixedWallets, spent(asked), truth.Wallet, spent(truth))
	}
}

// edit changes the maps of a PSBT.
func edit(t testing.TB, raw []byte, change func(maps []*psbt.Map)) []byte {
	t.Helper()
	packet := packetOf(t, raw)
	var maps []*psbt.Map
	for i := range packet.Inputs {
		maps = append(maps, &packet.Inputs[i].Map)
	}
	for i := range packet.Outputs {
		maps = append(maps, &packet.Outputs[i].Map)
	}
	change(maps)
	return packet.Encode()
}

// omissions are a PSBT without each of its records, without each pair of them, without all key
// origins, and with each origin false.
func omissions(t testing.TB, raw []byte, thief cosigner) map[string][]byte {
	t.Helper()
	type place struct{ m, record int }
	var all []place
	isOrigin := func(r psbt.Record) bool {
		return slices.Contains([]uint64{psbt.InBIP32Derivation, psbt.InTapBIP32Derivation}, r.Type) || r.Type == psbt.OutBIP32Derivation || r.Type == psbt.OutTapBIP32Derivation
	}
	edit(t, raw, func(maps []*psbt.Map) {
		for m := range maps {
			for r := range maps[m].Records {
				all = append(all, place{m, r})
			}
		}
	})
	out := map[string][]byte{}
	for i, one := range all {
		for _, two := range all[i:] {
			out[fmt.Sprintf("without (%v and %v)", one, two)] = edit(t, raw, func(maps []*psbt.Map) {
				for _, p := range []place{two, one} { // the later one first
					if p.record < len(maps[p.m].Records) {
						maps[p.m].Records = slices.Delete(maps[p.m].Records, p.record, p.record+1)
					}
				}
			})
		}
	}
	out["without origins"] = edit(t, raw, func(maps []*psbt.Map) {
		for _, m := range maps {
			m.Records = slices.DeleteFunc(m.Records, isOrigin)
		}
	})
	for name, falsify := range map[string]func(value []byte){
		"another fingerprint": func(v []byte) { v[len(v)-4*7]++ },
		"another branch":      func(v []byte) { v[len(v)-8] ^= 1 },
		"another index":       func(v []byte) { v[len(v)-4]++ },
		"the thief's origin":  func(v []byte) { copy(v[len(v)-4*7:], thief.origin(true, 3)) },
	} {
		for n := 1; n <= 3; n++ { // of so many keys of each map
			out[fmt.Sprintf("%s of %d keys", name, n)] = edit(t, raw, func(maps []*psbt.Map) {
				for _, m := range maps {
					left := n
					for i := range m.Records {
						if isOrigin(m.Records[i]) && left > 0 {
							m.Records[i].Value = bytes.Clone(m.Records[i].Value)
							falsify(m.Records[i].Value)
							left--
						}
					}
				}
			})
		}
	}
	return out
}

// TestOmissionsAllowNothing: in every form of a registered wallet, whatever is left out of a PSBT
// or said falsely in it, and however the keys are named, what is signed is judged as the wallet's.
func TestOmissionsAllowNothing(t *testing.T) {
	a, b, c, thief := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3), newCosigner(t, 7)
	stranger := bitcointest.P2WPKH(keyOf(t, secretOf(9)).PublicKey())
	for _, form := range registeredForms {
		policy := policyOf(t, "treasury", form, a, b, c)
		for _, pathless := range []bool{false, true} {
			h := newHouse(t, pathless, []*walletpolicy.Policy{policy}, []cosigner{a, b}, a.path(false, 5), a.path(true, 7))
			from := spendOf(t, policy, false, 5, a, b, c)
			raw := bitcointest.PSBT{
				Inputs:  []bitcointest.Input{from.Input(100_000, 1)},
				Outputs: []bitcointest.Output{stranger.Output(30_000), outputTo(t, policy, 65_000, true, 7, a, b, c)},
			}.Encode()
			address, _ := bitcoin.AddressOf(from.Script, bitcoin.Mainnet)
			named := map[string]string{"key a": a.key(t, false, 5).ID(), "key b": b.key(t, false, 5).ID(), "address": address, "seed": "seed-0", "name of the seed": "seed 1", "registered wallet": "treasury"}
			for i, seed := range []cosigner{a, b} { // ids in this keystore
				info, err := h.Find(t.Context(), org, keystore.ByHash160(seed.key(t, false, 5).PublicKey().Hash160()))
				testenv.Must(t, err)
				named[fmt.Sprintf("key %c", 'a'+i)] = info.ID()
			}
			truth, _, err := h.sign(raw, "treasury")
			if err != nil || truth.Wallet == nil || truth.Wallet.Name != "treasury" || spent(truth) != 35_000 {
				t.Fatalf("%s: %+v, %v", form, truth, err)
			}
			signed := 0
			variants := omissions(t, raw, thief)
			variants["all"] = raw
			for how, variant := range variants {
				for who, signWith := range named {
					if strings.HasPrefix(how, "without (") && who != "key a" && who != "registered wallet" {
						continue
					}
					asked, _, err := h.sign(variant, signWith)
					if err == nil {
						signed++
						noMore(t, fmt.Sprintf("%s: %s, signed with %s", form, how, who), truth, asked)
					} else if how == "without origins" && !pathless {
						t.Errorf("%s: %s, signed with %s: %v", form, how, who, err)
					}
				}
			}
			if signed < 20 {
				t.Errorf("%s: %d signed: the test shows nothing", form, signed)
			}
		}
	}
}

// TestOmittedOrigins has PSBTs of an attacker who left out or altered the origins of a 2-of-3
// wallet's keys, with which both seeds signed beyond the wallet's limit and without its approvals.
func TestOmittedOrigins(t *testing.T) {
	var records []struct{ Name, PSBT string }
	chaintest.ReadJSON(t, "testdata/danger/omitted.json", &records)
	seeds := make([]cosigner, 3)
	for i, words := range []string{
		"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
		"legal winner thank year wave sausage worth useful legal winner thank yellow",
	} {
		root, err := wallet.FromMnemonic([]byte(words), nil)
		testenv.Must(t, err)
		seeds[i] = cosignerOf(t, root)
	}
	root, err := wallet.FromSeed([]byte(strings.Repeat("thief", 8)))
	testenv.Must(t, err)
	seeds[2] = cosigner{root: root}
	if seeds[2].text, err = root.XPub(nil); err != nil {
		t.Fatal(err)
	}
	var policies []*walletpolicy.Policy
	for i, form := range []string{registeredForms[0], registeredForms[2], registeredForms[4]} {
		policies = append(policies, policyOf(t, fmt.Sprintf("treasury %d", i), form, seeds...))
	}
	var derived []wallet.Path
	for index := range uint32(20) {
		derived = append(derived, seeds[0].path(false, index), seeds[0].path(true, index))
	}
	h := newHouse(t, false, policies, seeds[:2], derived...)
	for _, r := range records {
		for _, signWith := range []string{"seed-0", "seed-1"} {
			asked, _, err := h.sign(chaintest.Unhex(t, r.PSBT), signWith)
			if err != nil || asked.Wallet == nil || !strings.HasPrefix(asked.Wallet.Name, "treasury") {
				t.Errorf("%s, %s: %+v, %v", r.Name, signWith, asked, err)
			}
		}
	}
}
