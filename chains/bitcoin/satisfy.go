package bitcoin

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
)

func (in *input) partialSig(key []byte) []byte {
	if record := in.Get(append([]byte{psbt.InPartialSig}, key...)); record != nil {
		return record.Value
	}
	return nil
}

func (in *input) satisfyHash(hash []byte) ([][]byte, error) {
	for record := range in.All(psbt.InPartialSig) {
		if bytes.Equal(address.Hash160(record.Data()), hash) {
			return [][]byte{record.Value, record.Data()}, nil
		}
	}
	return nil, fmt.Errorf("the signature is missing")
}

// satisfyMultisig returns an empty item, which OP_CHECKMULTISIG removes by mistake, and
// m signatures in the order of the keys.
func (in *input) satisfyMultisig() ([][]byte, error) {
	_, m, err := txscript.CalcMultiSigStats(in.code)
	if err != nil {
		return nil, err
	}
	stack := [][]byte{nil}
	pushes(in.code, func(_ byte, key []byte) bool {
		if signature := in.partialSig(key); signature != nil && len(stack) <= m {
			stack = append(stack, signature)
		}
		return false
	})
	if len(stack) <= m {
		return nil, fmt.Errorf("it has %d signatures of its keys and needs %d", len(stack)-1, m)
	}
	return stack, nil
}

// satisfyTaproot uses the key path if it is signed, or else the signed leaf with the
// shortest witness.
func (in *input) satisfyTaproot() (wire.TxWitness, error) {
	if signature := in.Value(psbt.InTapKeySig); signature != nil {
		return wire.TxWitness{signature}, nil
	}
	var best wire.TxWitness
	for i := range in.taproot.leaves {
		leaf := &in.taproot.leaves[i]
		stack, ok := in.satisfyLeaf(leaf)
		if !ok {
			continue
		}
		witness := append(wire.TxWitness(stack), leaf.script, leaf.control)
		if best == nil || witness.SerializeSize() < best.SerializeSize() {
			best = witness
		}
	}
	if best == nil {
		return nil, fmt.Errorf("neither the key path nor a leaf that this finalizer knows has its signatures")
	}
	return best, nil
}

// satisfyLeaf returns the stack for a leaf script of the forms
//
//	<x> CHECKSIGVERIFY … <x> CHECKSIG                    all sign
//	<x> CHECKSIG <x> CHECKSIGADD … <m> NUMEQUAL[VERIFY]  m sign; or m NUMEQUAL before more
//
// The stack has one item for each key, that of the first key on top: its signature, or
// nothing for a key that need not sign. ok is false if the form is another or
// signatures are missing.
func (in *input) satisfyLeaf(leaf *leaf) (stack [][]byte, ok bool) {
	keys, need, ok := leaf.keys()
	if !ok {
		return nil, false
	}
	stack = make([][]byte, len(keys))
	signed := 0
	for i, key := range keys {
		record := in.Get(slices.Concat([]byte{psbt.InTapScriptSig}, key, leaf.hash[:]))
		if record != nil && signed < need {
			stack[len(keys)-1-i] = record.Value
			signed++
		}
	}
	return stack, signed == need
}
