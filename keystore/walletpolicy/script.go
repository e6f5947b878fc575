package walletpolicy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
)

// Scripts are the scripts of one address.
type Scripts struct {
	Output  []byte // what the address stands for
	Redeem  []byte // of sh
	Witness []byte // of wsh
	Leaves  []Leaf // of tr

	Internal [32]byte // x-only internal key of tr
	Root     [32]byte // merkle root of the tree of tr
}

// Leaf is a leaf script with its control block.
type Leaf struct{ Script, Control []byte }

func (p *Policy) Script(change bool, index uint32) ([]byte, error) {
	scripts, err := p.Scripts(change, index)
	return scripts.Output, err
}

// Scripts derives the scripts of a receiving or a change address.
func (p *Policy) Scripts(change bool, index uint32) (*Scripts, error) {
	if index > MaxIndex {
		return nil, fmt.Errorf("%w: index %d, at most %d", ErrPolicy, index, MaxIndex)
	}
	d := deriver{p, branchOf(change), index}
	if p.template.form == formTR {
		return d.taproot()
	}
	keys, err := d.publics(p.template.multi, 0)
	if err != nil {
		return nil, err
	}
	script := txscript.NewScriptBuilder().AddInt64(int64(p.template.multi.k))
	for _, public := range keys {
		script.AddData(public)
	}
	code, err := script.AddInt64(int64(len(keys))).AddOp(txscript.OP_CHECKMULTISIG).Script()
	if err != nil {
		return nil, err
	}
	s := &Scripts{Redeem: code}
	if p.template.form != formSH {
		hash := sha256.Sum256(code)
		s.Witness, s.Redeem = code, append([]byte{txscript.OP_0, 32}, hash[:]...)
	}
	if p.template.form == formWSH {
		s.Output, s.Redeem = s.Redeem, nil
		return s, nil
	}
	s.Output = append(append([]byte{txscript.OP_HASH160, 20}, address.Hash160(s.Redeem)...), txscript.OP_EQUAL)
	return s, nil
}

func branchOf(change bool) int {
	if change {
		return 1
	}
	return 0
}

// deriver derives the scripts of one address.
type deriver struct {
	*Policy
	branch int
	index  uint32
}

// public returns the compressed public key of an expression.
func (d deriver) public(k key) ([]byte, error) {
	node, err := d.items[k.item].branches[k.branch[d.branch]].Derive(d.index)
	if err != nil {
		return nil, fmt.Errorf("%w: key @%d at index %d: %w", ErrPolicy, k.item, d.index, err)
	}
	public, err := node.ECPubKey()
	if err != nil {
		return nil, fmt.Errorf("%w: key @%d at index %d: %w", ErrPolicy, k.item, d.index, err)
	}
	return public.SerializeCompressed(), nil
}

// publics returns the keys of a multisig script in the order of the script: cut drops the
// first bytes, which do not sort in tapscript.
func (d deriver) publics(m *multi, cut int) ([][]byte, error) {
	keys := make([][]byte, len(m.keys))
	for i, k := range m.keys {
		public, err := d.public(k)
		if err != nil {
			return nil, err
		}
		keys[i] = public[cut:]
	}
	if m.sorted {
		slices.SortFunc(keys, bytes.Compare)
	}
	return keys, nil
}

// leaf returns <x> OP_CHECKSIG (<x> OP_CHECKSIGADD)… <k> OP_NUMEQUAL (BIP-387).
func (d deriver) leaf(m *multi) ([]byte, error) {
	keys, err := d.publics(m, 1)
	if err != nil {
		return nil, err
	}
	script := txscript.NewScriptBuilder()
	for i, x := range keys {
		op := byte(txscript.OP_CHECKSIGADD)
		if i == 0 {
			op = txscript.OP_CHECKSIG
		}
		script.AddData(x).AddOp(op)
	}
	return script.AddInt64(int64(m.k)).AddOp(txscript.OP_NUMEQUAL).Script()
}

// subtree returns a part of a tree, and the leaves below it, whose Control has the path alone, from
// the leaf upwards.
func (d deriver) subtree(t *tree) (txscript.TapNode, []Leaf, error) {
	if t.leaf != nil {
		script, err := d.leaf(t.leaf)
		return txscript.NewBaseTapLeaf(script), []Leaf{{Script: script}}, err
	}
	left, leaves, err := d.subtree(t.left)
	if err != nil {
		return nil, nil, err
	}
	right, more, err := d.subtree(t.right)
	if err != nil {
		return nil, nil, err
	}
	leftHash, rightHash := left.TapHash(), right.TapHash()
	for i := range leaves {
		leaves[i].Control = append(leaves[i].Control, rightHash[:]...)
	}
	for i := range more {
		more[i].Control = append(more[i].Control, leftHash[:]...)
	}
	return txscript.NewTapBranch(left, right), append(leaves, more...), nil
}

func (d deriver) taproot() (*Scripts, error) {
	public, err := d.public(d.template.internal)
	if err != nil {
		return nil, err
	}
	internal, err := btcec.ParsePubKey(public)
	if err != nil {
		return nil, err
	}
	root, leaves, err := d.subtree(d.template.tree)
	if err != nil {
		return nil, err
	}
	s := &Scripts{Internal: [32]byte(public[1:]), Root: root.TapHash(), Leaves: leaves}
	output := txscript.ComputeTaprootOutputKey(internal, s.Root[:])
	s.Output = append([]byte{txscript.OP_1, 32}, schnorr.SerializePubKey(output)...)
	for i := range s.Leaves {
		head := byte(txscript.BaseLeafVersion) | output.SerializeCompressed()[0]&1
		s.Leaves[i].Control = slices.Concat([]byte{head}, s.Internal[:], s.Leaves[i].Control)
	}
	return s, nil
}
