package bitcoin

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// input is one input with what it spends.
type input struct {
	*psbt.Input
	index  int
	amount uint64 // satoshi
	script []byte // of the output that is spent
	proven bool   // PSBT_IN_NON_WITNESS_UTXO is the transaction that is spent

	kind     scriptType
	code     []byte // the script that is run: redeem or witness script, or script itself; nil if not known
	sighash  byte   // of PSBT_IN_SIGHASH_TYPE, or else the default of the kind
	declared bool   // the input has PSBT_IN_SIGHASH_TYPE
	final    bool
	taproot  *taproot // of a P2TR input
	derived  bool     // the PSBT lacks the redeem script, which follows from the key

	// digests are those that were computed, at most six, one for each sighash type: the signatures of
	// other parties choose the type, and computing a legacy digest costs time proportional to the
	// whole transaction.
	digests map[byte][32]byte
}

func (in *input) field(name string) string { return fmt.Sprintf("input %d %s", in.index, name) }

func (in *input) refuse(keyType uint64, format string, args ...any) error {
	offset := in.Offset
	if record := in.Find(keyType); record != nil {
		offset = record.ValueOffset()
	}
	return in.refuseAt(offset, keyType, format, args...)
}

func (in *input) refuseAt(offset int, keyType uint64, format string, args ...any) error {
	return malformed(in.field(psbt.InputField(keyType)), offset, format, args...)
}

// taproot is what is known about how a P2TR output was built.
type taproot struct {
	output   []byte // x-only output key
	internal []byte // x-only internal key, nil if not known
	root     []byte // merkle root of the script tree, nil if not known or none
	leaves   []leaf
}

// leaf is one PSBT_IN_TAP_LEAF_SCRIPT.
type leaf struct {
	control []byte // leaf version and parity (1) ‖ internal key (32) ‖ merkle path (32 each)
	script  []byte
	version byte
	hash    [32]byte // BIP-341 leaf hash
}

// Why a key signs nothing in an input.
const (
	reasonFinal         = "already final"
	reasonOtherKey      = "locked to another key"
	reasonNotInScript   = "no such key in the script"
	reasonUncompressed  = "has the key in its uncompressed form, which is not signed"
	reasonNoRedeem      = "its redeem script (PSBT_IN_REDEEM_SCRIPT) is missing"
	reasonNoWitness     = "its witness script (PSBT_IN_WITNESS_SCRIPT) is missing"
	reasonCodeSeparator = "its script has OP_CODESEPARATOR: what is signed depends on how it is run"
	reasonNonStandard   = "its script is of a kind that is not signed"
	reasonBroken        = "its script cannot be run"
	reasonNotTaproot    = "the output key is not this key's, and no leaf script has the key"
	reasonLeafRefused   = "the key's leaf has OP_CODESEPARATOR, OP_SUCCESS or a leaf version other than c0"
	reasonAnchor        = "pay to anchor: anyone can spend it, with an empty witness"
	reasonOtherAddress  = "locked to another address"
	reasonOtherWallet   = "not of the registered wallet"
)

// unsignable returns why no key can make an ECDSA signature of the input, or empty if one can.
func (in *input) unsignable() string {
	switch {
	case in.kind == p2shUnknown:
		return reasonNoRedeem
	case in.code == nil:
		return reasonNoWitness
	case in.kind == p2a:
		return reasonAnchor
	case in.kind == unknownWitness || in.kind == nonStandard:
		return reasonNonStandard
	case hasCodeSeparator(in.code):
		return reasonCodeSeparator
	}
	return ""
}

// lacksOutput reports whether an input with SIGHASH_SINGLE has no output of its number.
// The legacy digest would be the constant 1 then, and its signature valid for anything.
func (in *input) lacksOutput(sighash byte, outputs int) bool {
	return sighash&sighashOutputs == sighashSingle && in.index >= outputs
}

// commitsTo reports whether a signature of the input commits to the amount of another
// input, or of itself: a legacy signature commits to none, segwit version 0 to its own
// (BIP-143), taproot to all, or with SIGHASH_ANYONECANPAY to its own (BIP-341).
func (in *input) commitsTo(other *input) bool {
	switch in.kind.family() {
	case segwitV0:
		return in == other
	case taprootV1:
		return in == other || in.sighash&sighashAnyoneCanPay == 0
	}
	return false
}

// signedBy reports whether the input has a signature of a key, given compressed or x-only.
func (in *input) signedBy(key []byte) bool {
	return slices.ContainsFunc(in.Records, func(r psbt.Record) bool {
		return (r.Type == psbt.InPartialSig || r.Type == psbt.InTapScriptSig) && bytes.HasPrefix(r.Data(), key)
	})
}
