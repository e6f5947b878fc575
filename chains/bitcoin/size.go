package bitcoin

import (
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// Sizes in bytes of the items of a signed input, lengths included.
const (
	ecdsaPush   = 1 + maxPartialSig
	keyPush     = 1 + 33
	schnorrPush = 1 + 64
)

// VirtualSize estimates the size of the signed transaction in virtual bytes (BIP-141:
// weight / 4, rounded up). Final inputs count with their actual size, the others with
// signatures of the usual length.
func (t *transaction) VirtualSize() uint64 {
	weight, hasWitness := 4*len(t.raw), false
	for i := range t.inputs {
		script, witness := t.inputs[i].signedSize()
		weight += 4*(script+psbt.CompactSizeLen(uint64(script))-1) + max(witness, 1)
		hasWitness = hasWitness || witness > 0
	}
	if hasWitness {
		weight += 2 // marker and flag
	} else {
		weight -= len(t.inputs)
	}
	return uint64(weight+3) / 4
}

// signedSize returns the number of bytes of the input's script, and of its witness with
// the count of items, once it is final.
func (in *input) signedSize() (script, witness int) {
	if in.final {
		return len(in.Value(psbt.InFinalScriptSig)), len(in.Value(psbt.InFinalScriptWitness))
	}
	switch in.kind {
	case p2pk, p2pkh, bareMultisig:
		return satisfactionSize(in.code), 0
	case p2sh:
		return satisfactionSize(in.code) + pushSize(len(in.code)), 0
	case p2wpkh:
		return 0, 1 + ecdsaPush + keyPush
	case p2shP2wpkh:
		return 1 + 22, 1 + ecdsaPush + keyPush
	case p2wsh:
		return 0, in.scriptWitnessSize()
	case p2shP2wsh:
		return 1 + 34, in.scriptWitnessSize()
	case p2tr:
		return 0, in.taprootWitnessSize()
	}
	return 0, 0
}

func (in *input) scriptWitnessSize() int {
	return 1 + satisfactionSize(in.code) + psbt.CompactSizeLen(uint64(len(in.code))) + len(in.code)
}

// taprootWitnessSize assumes the key path if there are no leaves, or else the first leaf.
func (in *input) taprootWitnessSize() int {
	signature := schnorrPush
	if in.sighash != sighashDefault {
		signature++
	}
	if len(in.taproot.leaves) == 0 {
		return 1 + signature
	}
	leaf := &in.taproot.leaves[0]
	size := 1 + psbt.CompactSizeLen(uint64(len(leaf.script))) + len(leaf.script) +
		psbt.CompactSizeLen(uint64(len(leaf.control))) + len(leaf.control)
	pushes(leaf.script, func(op byte, _ []byte) bool {
		if op == txscript.OP_DATA_32 {
			size += signature
		}
		return false
	})
	return size
}

// satisfactionSize returns the size of what satisfies a script: an empty item and m signatures for
// a multisig, a signature and a key for a key hash, or else one signature.
func satisfactionSize(script []byte) int {
	if txscript.IsPayToPubKeyHash(script) {
		return ecdsaPush + keyPush
	}
	if _, m, err := txscript.CalcMultiSigStats(script); err == nil {
		return 1 + m*ecdsaPush
	}
	return ecdsaPush
}

func pushSize(n int) int {
	switch {
	case n <= 75:
		return 1 + n
	case n <= 255:
		return 2 + n
	}
	return 3 + n
}
