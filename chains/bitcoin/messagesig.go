package bitcoin

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// The prefixes of BIP-322's forms of a signature.
const (
	prefixSimple       = "smp"
	prefixFull         = "ful"
	prefixProofOfFunds = "pof"
)

// MessageSignature returns the signature of a BIP-322 message from the PSBT that has
// all its signatures. ok is false if the PSBT is not a message. Each input is first run
// through btcd's script engine.
//
//	smp  <witness of input 0>      an address with a witness, without time locks
//	pof  <finalized PSBT>          a proof of funds: several inputs
//	ful  <to_sign>                 everything else
func MessageSignature(raw []byte) (signature string, ok bool, err error) {
	return Chain{}.MessageSignature(raw)
}

// MessageSignature is like the function MessageSignature, within the limits of the chain.
func (c Chain) MessageSignature(raw []byte) (signature string, ok bool, err error) {
	tx, err := c.parse(raw)
	if err != nil || tx.message == nil {
		return "", false, err
	}
	if err := tx.satisfy(); err != nil {
		return "", true, err
	}
	switch in := tx.tx.TxIn[0]; {
	case len(tx.inputs) > 1:
		return prefixed(prefixProofOfFunds, tx.finalPSBT()), true, nil
	case len(in.SignatureScript) == 0 && in.Sequence == 0 && tx.tx.LockTime == 0 && tx.tx.Version == 0:
		return prefixed(prefixSimple, witnessBytes(in.Witness)), true, nil
	}
	var out bytes.Buffer
	if err := tx.tx.Serialize(&out); err != nil {
		return "", true, err
	}
	return prefixed(prefixFull, out.Bytes()), true, nil
}

// OlderSignature returns a signature of MessageSignature as verifiers take it that follow the text of
// BIP-322 before its version 1, such as bip322-js: without the prefix, and for P2SH-P2WPKH the
// witness alone. It returns nothing for a proof of funds, which that text has no form of.
func OlderSignature(signature string) string {
	if simple, ok := strings.CutPrefix(signature, prefixSimple); ok {
		return simple
	}
	full, ok := strings.CutPrefix(signature, prefixFull)
	if !ok {
		return ""
	}
	var tx wire.MsgTx
	raw, err := base64.StdEncoding.DecodeString(full)
	if err != nil || tx.Deserialize(bytes.NewReader(raw)) != nil || len(tx.TxIn) != 1 {
		return ""
	}
	if in := tx.TxIn[0]; len(in.SignatureScript) == 23 && classify(in.SignatureScript[1:]) == p2wpkh {
		return base64.StdEncoding.EncodeToString(witnessBytes(in.Witness))
	}
	return full
}

func prefixed(prefix string, raw []byte) string {
	return prefix + base64.StdEncoding.EncodeToString(raw)
}

// witnessBytes encodes a witness: count ‖ (<length> ‖ item)…
func witnessBytes(witness wire.TxWitness) []byte {
	out := psbt.AppendCompactSize(nil, uint64(len(witness)))
	for _, item := range witness {
		out = append(psbt.AppendCompactSize(out, uint64(len(item))), item...)
	}
	return out
}

// finalPSBT returns the PSBT after the finalizer of BIP-174. The inputs must be
// satisfied: only what they spend and how it is unlocked is kept.
func (t *transaction) finalPSBT() []byte {
	packet := psbt.Packet{
		Global: psbt.Map{Records: []psbt.Record{recordOf(psbt.GlobalUnsignedTx, t.raw)}},
		Inputs: make([]psbt.Input, len(t.inputs)), Outputs: make([]psbt.Output, len(t.packet.Outputs)),
	}
	for i := range t.inputs {
		final, in := t.tx.TxIn[i], &t.inputs[i]
		// What the input spends: the output alone if it has a witness, or else the transaction.
		records := []psbt.Record{recordOf(psbt.InNonWitnessUTXO, in.Value(psbt.InNonWitnessUTXO))}
		if len(final.Witness) > 0 {
			records[0] = recordOf(psbt.InWitnessUTXO, psbt.AppendTxOut(nil, in.amount, in.script))
		}
		if len(final.SignatureScript) > 0 {
			records = append(records, recordOf(psbt.InFinalScriptSig, final.SignatureScript))
		}
		if len(final.Witness) > 0 {
			records = append(records, recordOf(psbt.InFinalScriptWitness, witnessBytes(final.Witness)))
		}
		packet.Inputs[i].Records = records
	}
	return packet.Encode()
}
