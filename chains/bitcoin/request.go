package bitcoin

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// request is a PSBT together with signWith.
type request struct {
	tx       *transaction
	target   *target     // of the address that signWith is; nil if it is an id
	only     *registered // of the registered wallet that signWith names; nil if it names none
	locators []keystore.Locator
}

// Request implements chains.Transaction. An address of a key names the key. An address
// of a script names the keys in the scripts of the inputs that are locked to it, those
// that have not signed first. Any other text is the id of a key, or the name of a
// wallet.
//
// If signWith is an address, addresses are from then on shown as on its network: the
// bytes of a PSBT name none. The summary's digest does not depend on it.
func (t *transaction) Request(signWith string) (chains.Request, error) {
	target, err := parseSignWith(signWith)
	if err != nil {
		return nil, err
	}
	if target == nil {
		return &request{tx: t, locators: []keystore.Locator{keystore.ByID(signWith)}}, nil
	}
	locators, err := t.locate(target, signWith)
	if err != nil {
		return nil, err
	}
	if target.network != Testnet || !t.network.shares(signWith) {
		t.network = target.network
	}
	return &request{tx: t, target: target, locators: locators}, nil
}

// locate returns where to look for the keys that an address names in this transaction.
func (t *transaction) locate(target *target, signWith string) ([]keystore.Locator, error) {
	owner, _ := (Chain{}).Locate(target.script)
	kind := classify(target.script)
	if kind == p2pkh || kind == p2wpkh {
		return []keystore.Locator{owner}, nil
	}
	candidates := candidates{}
	if kind == p2tr {
		candidates.add(owner)
		candidates.xOnly(target.script[2:])
	}
	for i := range t.inputs {
		if in := &t.inputs[i]; bytes.Equal(in.script, target.script) {
			if in.kind == p2shUnknown { // a key's own redeem script follows from the key
				candidates.add(owner)
			}
			candidates.input(in)
		}
	}
	return candidates.locators(signWith, func() error { return t.noCandidates(target, signWith) })
}

// RequestOf implements chains.WalletTransaction: the keys are those in the scripts of the
// wallet's inputs, and they sign no others.
func (t *transaction) RequestOf(wallet keystore.Registration, accounts chains.Accounts) (chains.Request, error) {
	only := (&registered{wallets: []keystore.Registration{wallet}, accounts: accounts}).find(t)
	candidates := candidates{}
	for i := range t.inputs {
		if only.inputs[i].of != nil {
			candidates.input(&t.inputs[i])
		}
	}
	locators, err := candidates.locators(named(&wallet), func() error {
		return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: "nothing to sign: no input with its script is of the registered " + named(&wallet)}
	})
	return &request{tx: t, only: only, locators: locators}, err
}

// Locate implements chains.Chain for output scripts of P2PKH, P2WPKH, P2SH and P2TR. A P2SH
// output is a key's if it is locked to the key's P2WPKH script (BIP-49), and a P2TR output if
// it is locked to the key by BIP-86.
func (Chain) Locate(script []byte) (locator keystore.Locator, ok bool) {
	switch classify(script) {
	case p2pkh:
		return keystore.ByHash160([20]byte(script[3:])), true
	case p2wpkh:
		return keystore.ByHash160([20]byte(script[2:])), true
	case p2shUnknown:
		return keystore.ByNested([20]byte(script[2:])), true
	case p2tr:
		return keystore.ByTaproot([32]byte(script[2:])), true
	}
	return locator, false
}

// Locators implements chains.Request.
func (r *request) Locators() []keystore.Locator { return r.locators }

// maxCandidates is the largest number of keys in scripts that are looked up in the
// keystore.
const maxCandidates = 512

// noCandidates returns the error for the address of a script that leads to no key.
func (t *transaction) noCandidates(target *target, signWith string) error {
	why := "no input is locked to " + signWith
	for i := range t.inputs {
		if in := &t.inputs[i]; bytes.Equal(in.script, target.script) {
			why = in.field("is locked to it, but its script has no key")
			if reason := in.unsignable(); reason != "" {
				why = in.field("is locked to it, but " + reason)
			}
			break
		}
	}
	return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: "nothing to sign: " + why}
}

// candidates collects the locators of the keys in scripts, each once.
type candidates struct {
	seen             map[keystore.Locator]bool
	unsigned, signed []keystore.Locator // without and with a signature in the PSBT
	hashes           [][20]byte         // hash160 of the keys that are located by it
	in               *input             // whose scripts they are; nil if no input's
}

func (c *candidates) add(locator keystore.Locator) { c.put(locator, false) }

// locators returns the candidates, those first that have not signed: at least one and at most
// maxCandidates.
func (c *candidates) locators(of string, none func() error) ([]keystore.Locator, error) {
	locators := slices.Concat(c.unsigned, c.signed)
	switch {
	case len(locators) == 0:
		return nil, none()
	case len(locators) > maxCandidates:
		return nil, &chains.SignerError{Kind: chains.ErrSignWith, Chain: Name, Problem: fmt.Sprintf(
			"the scripts of %s have %d keys, at most %d are looked up: name the key by its id", of, len(locators), maxCandidates)}
	}
	return locators, nil
}

func (c *candidates) put(locator keystore.Locator, signed bool) {
	if c.seen == nil {
		c.seen = map[keystore.Locator]bool{}
	}
	switch {
	case c.seen[locator]:
		return
	case signed:
		c.signed = append(c.signed, locator)
	default:
		c.unsigned = append(c.unsigned, locator)
	}
	c.seen[locator] = true
}

// hash adds a key by the hash160 of its compressed form. key is what the script has of it.
func (c *candidates) hash(hash, key []byte) {
	c.hashes = append(c.hashes, [20]byte(hash))
	c.put(keystore.ByHash160([20]byte(hash)), c.in != nil && c.in.signedBy(key))
}

// xOnly adds the two keys with an x coordinate.
func (c *candidates) xOnly(x []byte) {
	for _, parity := range []byte{2, 3} {
		c.hash(address.Hash160(append([]byte{parity}, x...)), x)
	}
}

// input adds the keys in the scripts of an input.
func (c *candidates) input(in *input) {
	c.in = in
	defer func() { c.in = nil }()
	if in.kind != p2tr {
		c.script(in.code)
		return
	}
	if in.taproot.internal != nil && in.taproot.root != nil { // without a root, the owner of the output has it
		c.xOnly(in.taproot.internal)
	}
	for i := range in.taproot.leaves {
		pushes(in.taproot.leaves[i].script, func(op byte, data []byte) bool {
			if op == txscript.OP_DATA_32 {
				c.xOnly(data)
			}
			return false
		})
	}
}

// script adds the compressed keys and the key hashes that a script pushes.
func (c *candidates) script(script []byte) {
	pushes(script, func(op byte, data []byte) bool {
		switch {
		case op == txscript.OP_DATA_33 && (data[0] == 2 || data[0] == 3):
			c.hash(address.Hash160(data), data)
		case op == txscript.OP_DATA_20:
			c.hash(data, data)
		}
		return false
	})
}

// signedBy reports whether the input has a signature of a key, given compressed or
// x-only.
func (in *input) signedBy(key []byte) bool {
	for i := range in.Records {
		record := &in.Records[i]
		switch record.Type {
		case psbt.InPartialSig, psbt.InTapScriptSig:
			if bytes.HasPrefix(record.Data(), key) {
				return true
			}
		}
	}
	return false
}
