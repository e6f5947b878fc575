package bitcoin

import (
	"bytes"
	"cmp"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// request is a PSBT together with signWith.
type request struct {
	tx       *transaction
	asked    selection
	locators []keystore.Locator
}

// selection is the inputs that signWith asks for. The zero selection is of all that the keys can
// sign.
type selection struct {
	inputs []bool // by index; nil for all
	others string // why the other inputs are not signed
}

// all reports whether signWith asks for no inputs in particular.
func (s *selection) all() bool { return s.inputs == nil }

// has reports whether signWith asks for an input, if a key can sign it.
func (s *selection) has(index int) bool { return s.inputs == nil || s.inputs[index] }

// selectInputs returns the inputs that are wanted.
func (t *transaction) selectInputs(others string, wanted func(in *input) bool) selection {
	s := selection{make([]bool, len(t.inputs)), others}
	for i := range t.inputs {
		s.inputs[i] = wanted(&t.inputs[i])
	}
	return s
}

// Request implements chains.Transaction. An address of a key names the key. An address
// of a script names the keys in the scripts of the inputs that are locked to it, those
// that have not signed first. Any other text is the id of a key, or the name of a
// wallet.
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
	locked := func(in *input) bool { return bytes.Equal(in.script, address.script) }
	r := &request{tx: t, asked: t.selectInputs(reasonOtherAddress, locked)}
	if r.locators, err = r.locate(address); err != nil {
		return nil, err
	}
	if address.network != Testnet || !t.network.shares(signWith) {
		t.network = address.network
	}
	return r, nil
}

// locate returns where to look for the keys that an address names in this transaction.
func (r *request) locate(address *decodedAddress) ([]keystore.Locator, error) {
	owner, _ := (Chain{}).Owner(address.script)
	kind := classify(address.script)
	if kind == p2pkh || kind == p2wpkh {
		return []keystore.Locator{owner}, nil
	}
	candidates, why := candidates{}, ""
	if kind == p2tr {
		candidates.add(owner)
		candidates.xOnly(address.script[2:])
	}
	for i := range r.tx.inputs {
		in := &r.tx.inputs[i]
		if !r.asked.has(i) {
			continue
		}
		if in.kind == p2shUnknown { // a key's own redeem script follows from the key
			candidates.add(owner)
		}
		candidates.input(in)
		why = cmp.Or(why, in.field("is locked to it, but "+cmp.Or(in.unsignable(), "its script has no key")))
	}
	return candidates.locators(address.text, cmp.Or(why, "no input is locked to "+address.text))
}

// RequestOf implements chains.RegisteredTransaction: the keys are those in the scripts of the
// wallet's inputs, and they sign no others.
func (t *transaction) RequestOf(wallet keystore.Registration, holders chains.Holders) (chains.Request, error) {
	known := findRegistered(t, []keystore.Registration{wallet}, holders, nil)
	candidates := candidates{}
	ofWallet := func(in *input) bool {
		is := known.inputs[in.index].of != nil
		if is {
			candidates.input(in)
		}
		return is
	}
	r := &request{tx: t, asked: t.selectInputs(reasonOtherWallet, ofWallet)}
	var err error
	r.locators, err = candidates.locators(named(&wallet), "no input with its script is of the registered "+named(&wallet))
	return r, err
}

// Locators implements chains.Request.
func (r *request) Locators() []keystore.Locator { return r.locators }
