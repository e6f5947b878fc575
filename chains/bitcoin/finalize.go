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

// Finalize returns the network transaction of a PSBT that has all its signatures: it is the
// finalizer and the extractor of BIP-174. Inputs that are already final are kept. Of the scripts of
// P2SH, P2WSH and taproot leaves it can satisfy multisig, a single key and a single key hash; of
// leaves also chains of OP_CHECKSIGVERIFY and OP_CHECKSIGADD.
//
// Every input is then run through btcd's script engine under the rules that nodes apply: they
// accept the transaction, provided that the PSBT is true about what it spends.
func Finalize(raw []byte) ([]byte, error) { return Chain{}.Finalize(raw) }

// Finalize is like the function Finalize, within the limits of the chain.
func (c Chain) Finalize(raw []byte) ([]byte, error) {
	t, err := c.parse(raw)
	if err != nil {
		return nil, err
	}
	if err := t.satisfy(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.tx.Serialize(&out)
	return out.Bytes(), err
}

// satisfy puts scripts and witnesses into the inputs, and runs each through the script engine with
// standard flags. From then on the transaction has no digests, which are over empty scripts.
func (t *transaction) satisfy() error {
	t.prepare()
	for i := range t.inputs {
		script, witness, err := t.inputs[i].satisfy()
		if err != nil {
			return malformed(fmt.Sprintf("input %d", i), t.inputs[i].Offset, "cannot be finalized: %s", err)
		}
		t.tx.TxIn[i].SignatureScript, t.tx.TxIn[i].Witness = script, witness
	}
	for i := range t.inputs {
		in := &t.inputs[i]
		engine, err := txscript.NewEngine(in.script, t.tx, i, txscript.StandardVerifyFlags, nil, t.hashes,
			int64(in.amount), t.spent)
		if err == nil {
			err = engine.Execute()
		}
		if err != nil {
			return malformed(fmt.Sprintf("input %d", i), in.Offset, "cannot be finalized: its script fails: %v", err)
		}
	}
	return nil
}

// satisfy returns the input's script and witness, built from its signatures.
func (in *input) satisfy() (script []byte, witness wire.TxWitness, err error) {
	if in.final {
		if value := in.Value(psbt.InFinalScriptWitness); value != nil {
			witness, err = psbt.ReadWitness(value)
		}
		return in.Value(psbt.InFinalScriptSig), witness, err
	}
	if in.kind == p2a {
		return nil, nil, nil // BIP-433: by an empty witness
	}
	if in.kind == p2tr {
		witness, err = in.satisfyTaproot()
		return nil, witness, err
	}
	if reason := in.unsignable(); reason != "" {
		return nil, nil, fmt.Errorf("%s", reason)
	}
	items, err := in.satisfyScript()
	if err != nil {
		return nil, nil, err
	}
	switch in.kind {
	case p2sh, p2wsh, p2shP2wsh:
		items = append(items, in.code)
	}
	switch in.kind {
	case p2wpkh, p2wsh:
		return nil, items, nil
	case p2shP2wpkh, p2shP2wsh:
		items, witness = [][]byte{in.Value(psbt.InRedeemScript)}, items
	}
	builder := txscript.NewScriptBuilder() // it pushes each item in its shortest form
	for _, item := range items {
		builder.AddData(item)
	}
	script, err = builder.Script()
	return script, witness, err
}

// satisfyScript returns the stack that satisfies a script of ECDSA signatures.
func (in *input) satisfyScript() ([][]byte, error) {
	code := in.code
	switch in.kind {
	case p2wpkh, p2shP2wpkh:
		return in.satisfyHash(code[2:])
	}
	switch classify(code) {
	case p2pkh:
		return in.satisfyHash(code[3:23])
	case p2pk:
		key := code[1 : len(code)-1]
		if signature := in.partialSig(key); signature != nil {
			return [][]byte{signature}, nil
		}
		return nil, fmt.Errorf("signature of %x is missing", key)
	case bareMultisig:
		return in.satisfyMultisig()
	}
	return nil, fmt.Errorf("this finalizer does not know its script: finalize the PSBT with the wallet that made " +
		"the script")
}

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
// The stack has one item for each key, that of the first key on top: its signature, or nothing for
// a key that need not sign. ok is false if the form is another or signatures are missing.
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
