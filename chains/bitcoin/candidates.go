package bitcoin

import (
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// maxCandidates is the largest number of keys in scripts that are looked up in the keystore.
const maxCandidates = 512

// candidates collects the locators of the keys in scripts, each once.
type candidates struct {
	seen             map[keystore.Locator]bool
	unsigned, signed []keystore.Locator // without and with a signature in the PSBT
	hashes           [][20]byte         // hash160 of the keys that are located by it
	in               *input             // whose scripts they are; nil if no input's
}

// locators returns the candidates, those first that have not signed: at least one and at most
// maxCandidates. of is whose scripts they are in, why says why there is none, unless it is that no
// input is locked to them.
func (c *candidates) locators(of, why string) ([]keystore.Locator, error) {
	locators := slices.Concat(c.unsigned, c.signed)
	switch {
	case len(locators) == 0:
		return nil, signerError(chains.ErrNotSigner, "nothing to sign: %s", cmp.Or(why, "no input is locked to "+of))
	case len(locators) > maxCandidates:
		return nil, signerError(chains.ErrSignWith,
			"the scripts of %s have %d keys, at most %d are looked up: name the key by its id", of, len(locators),
			maxCandidates)
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

func (c *candidates) xOnly(x []byte) {
	for _, parity := range []byte{2, 3} {
		c.hash(address.Hash160(append([]byte{parity}, x...)), x)
	}
}

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
