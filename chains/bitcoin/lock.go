package bitcoin

import "github.com/countersign-dev/countersign/chains/bitcoin/psbt"

// Bits of PSBT_GLOBAL_TX_MODIFIABLE (BIP-370).
const (
	inputsModifiable  = 1 << 0
	outputsModifiable = 1 << 1
	hasSighashSingle  = 1 << 2
)

// Lock returns a PSBT whose PSBT_GLOBAL_TX_MODIFIABLE says what its signatures
// leave open (BIP-370): no inputs may be added once a signature commits to
// them, no outputs once one commits to those. A PSBT that has no such field, as
// every one of version 0, comes back as it is, in a new slice.
func Lock(raw []byte) ([]byte, error) {
	tx, err := Chain{}.parse(raw)
	if err != nil {
		return nil, err
	}
	record := tx.packet.Global.Find(psbt.GlobalTxModifiable)
	if record == nil || tx.packet.Version != psbt.Version2 {
		return psbt.AppendSpliced(nil, raw, nil), nil
	}
	fixed := tx.fixed()
	flags := record.Value[0]&^(fixed&(inputsModifiable|outputsModifiable)) | fixed&hasSighashSingle
	return psbt.AppendSpliced(nil, raw, []psbt.Insertion{{At: record.ValueOffset(), Replace: 1, Bytes: []byte{flags}}}), nil
}

// fixed is the bits that the signatures decide.
func (t *Transaction) fixed() (bits byte) {
	for i := range t.inputs {
		in := &t.inputs[i]
		for j := range in.Records {
			if sighash, ok := sighashOf(&in.Records[j]); ok {
				bits |= fixes(sighash)
			}
		}
	}
	return bits
}

// sighashOf returns the sighash type of a signature's record.
func sighashOf(record *psbt.Record) (byte, bool) {
	switch record.Type {
	case psbt.InPartialSig:
		return record.Value[len(record.Value)-1], true
	case psbt.InTapKeySig, psbt.InTapScriptSig:
		if len(record.Value) == 65 {
			return record.Value[64], true
		}
		return sighashDefault, true
	}
	return 0, false
}

// fixes is the bits that a signature decides: inputs unless anyone can pay,
// outputs unless it signs none; and a third for SIGHASH_SINGLE.
func fixes(sighash byte) (bits byte) {
	if sighash&sighashAnyoneCanPay == 0 {
		bits |= inputsModifiable
	}
	if sighash&sighashOutputs != sighashNone {
		bits |= outputsModifiable
	}
	if sighash&sighashOutputs == sighashSingle {
		bits |= hasSighashSingle
	}
	return bits
}
