package bitcoin

import (
	"bytes"
	"cmp"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

type request struct {
	tx       *transaction
	asked    selection
	locators []keystore.Locator
}

// selection is the inputs that signWith asks for. The zero selection is of all that the keys can
// sign.
type selection struct {
	script []byte      // of the address that the inputs are locked to; nil if signWith is none
	wallet []belonging // of the inputs, to a registered wallet; nil if signWith is none
}

// all reports whether signWith asks for no inputs in particular.
func (s *selection) all() bool { return s.script == nil && s.wallet == nil }

// refuses returns why an input is not signed that a key could sign, empty if signWith asks for it.
func (s *selection) refuses(in *input) string {
	switch {
	case s.script != nil && !bytes.Equal(in.script, s.script):
		return reasonOtherAddress
	case s.wallet != nil && s.wallet[in.index].of == nil:
		return reasonOtherWallet
	}
	return ""
}

// Request implements chains.Transaction. An address of a key names the key. An address of a script
// names the keys in the scripts of the inputs that are locked to it, those that have not signed
// first. Any other text is the id of a key, or the name of a wallet.
//
// If signWith is an address, addresses are from then on shown as on its network: the
// bytes of a PSBT name none. The summary's digest does not depend on it.
func (t *transaction) Request(signWith string) (chains.Request, error) {
	address, err := parseSignWith(signWith)
	if err != nil {
		return nil, err
	}
	if address == nil {
		return &request{tx: t, locators: []keystore.Locator{keystore.ByID(signWith)}}, nil
	}
	r := &request{tx: t, asked: selection{script: address.script}}
	if r.locators, err = r.locate(address); err != nil {
		return nil, err
	}
	// Signet has all address forms of Testnet, Regtest those in base58.
	_, segwit := segwitNetwork(signWith)
	if address.network != Testnet || t.network != Signet && (t.network != Regtest || segwit) {
		t.network = address.network
	}
	return r, nil
}

// locate returns where to look for the keys that an address names in this transaction.
func (r *request) locate(address *decodedAddress) ([]keystore.Locator, error) {
	owner, _ := (Chain{}).Locate(address.script)
	kind := classify(address.script)
	if kind == p2pkh || kind == p2wpkh {
		return []keystore.Locator{owner}, nil
	}
	candidates, why := candidates{}, ""
	if kind == p2tr {
		candidates.put(owner, false)
		candidates.xOnly(address.script[2:])
	}
	for i := range r.tx.inputs {
		in := &r.tx.inputs[i]
		if r.asked.refuses(in) != "" {
			continue
		}
		if in.kind == p2shUnknown { // a key's own redeem script follows from the key
			candidates.put(owner, false)
		}
		if candidates.input(in); candidates.seen == nil && why == "" {
			why = in.field("is locked to it, but " + cmp.Or(in.unsignable(), "its script has no key"))
		}
	}
	return candidates.locators(address.text, why)
}

// RequestOf implements chains.WalletTransaction: the keys are those in the scripts of the
// wallet's inputs, and they sign no others.
func (t *transaction) RequestOf(wallet keystore.Registration, accounts chains.Accounts) (chains.Request, error) {
	known := (&registered{wallets: []keystore.Registration{wallet}, accounts: accounts}).find(t)
	r, candidates := &request{tx: t, asked: selection{wallet: known.inputs}}, candidates{}
	for i := range known.inputs {
		if known.inputs[i].of != nil {
			candidates.input(&t.inputs[i])
		}
	}
	var err error
	r.locators, err = candidates.locators(named(&wallet),
		"no input with its script is of the registered "+named(&wallet))
	return r, err
}

func (r *request) Locators() []keystore.Locator { return r.locators }
