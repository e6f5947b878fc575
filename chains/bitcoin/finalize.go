package bitcoin

import (
	"bytes"
	"fmt"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// Finalize returns the network transaction of a PSBT that has all its signatures: it is
// the finalizer and the extractor of BIP-174. Inputs that are already final are kept.
// Of the scripts of P2SH, P2WSH and taproot leaves it can satisfy multisig, a single
// key and a single key hash; of leaves also chains of OP_CHECKSIGVERIFY and
// OP_CHECKSIGADD.
//
// Every input is then run through btcd's script engine under the rules that nodes
// apply: they accept the transaction, provided that the PSBT is true about what it
// spends.
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
