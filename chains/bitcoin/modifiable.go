package bitcoin

import "github.com/countersign-dev/countersign/internal/psbt"

// Bits of PSBT_GLOBAL_TX_MODIFIABLE (BIP-370).
const (
	inputsModifiable  = 1 << 0
	outputsModifiable = 1 << 1
	hasSighashSingle  = 1 << 2
)

// modifiable returns the change that BIP-370 requires of a signer to
// PSBT_GLOBAL_TX_MODIFIABLE: no inputs may be added once a signature commits to them,
// and no outputs once one commits to those. ok is false if the PSBT has no such field,
// or the field needs no change.
func (t *transaction) modifiable(tasks []task) (change psbt.Insertion, ok bool) {
	record := t.packet.Global.Find(psbt.GlobalTxModifiable)
	if record == nil {
		return change, false
	}
	flags := record.Value[0]
	for i := range tasks {
		clear, set := fixes(tasks[i].in.sighash)
		flags = flags&^clear | set
	}
	return psbt.Insertion{At: record.ValueOffset(), Replace: 1, Bytes: []byte{flags}}, flags != record.Value[0]
}

// fixes returns the bits that a signature clears (inputs unless anyone can pay, outputs
// unless it signs none), and the bit that SIGHASH_SINGLE sets.
func fixes(sighash byte) (clear, set byte) {
	if sighash&sighashAnyoneCanPay == 0 {
		clear |= inputsModifiable
	}
	if sighash&sighashOutputs != sighashNone {
		clear |= outputsModifiable
	}
	if sighash&sighashOutputs == sighashSingle {
		set = hasSighashSingle
	}
	return clear, set
}

// sighashOf returns the sighash type of a signature's record. ok is false for other
// records.
func sighashOf(record *psbt.Record) (sighash byte, ok bool) {
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
