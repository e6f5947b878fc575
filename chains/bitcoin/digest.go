package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// unsignedTx is the unsigned transaction with what its inputs spend: what signatures commit to.
type unsignedTx struct {
	packet *psbt.Packet
	inputs []input
	raw    []byte // in the network's encoding

	// Computed on first use.
	tx     *wire.MsgTx // the same for txscript
	spent  txscript.PrevOutputFetcher
	hashes *txscript.TxSigHashes // midstates of BIP-341
	segwit *segwitHashes         // midstates of BIP-143
	prefix hash.Cloner           // a SHA-256 state over the first bytes of raw, for legacy digests
	hashed int                   // how many bytes those are
}

// ecdsaDigest returns the digest that an ECDSA signature of the input signs. The
// script that is run must be known.
func (t *unsignedTx) ecdsaDigest(in *input, sighash byte) ([32]byte, error) {
	hash, known := in.digests[sighash]
	switch {
	case known:
		return hash, nil
	case in.kind.family() == segwitV0:
		hash = t.segwitDigest(in, sighash)
	case sighash == sighashAll:
		hash = t.legacyDigest(in)
	default:
		t.prepare()
		digest, err := txscript.CalcSignatureHash(in.code, txscript.SigHashType(sighash), t.tx, in.index)
		if err != nil {
			return hash, err
		}
		hash = [32]byte(digest)
	}
	if in.digests == nil {
		in.digests = map[byte][32]byte{}
	}
	in.digests[sighash] = hash
	return hash, nil
}

// segwitDigest is the digest of segwit version 0 (BIP-143): SHA-256 twice over
//
//	version (4)  hash of outpoints (32)  hash of sequences (32)  outpoint (36)
//	<length> script  amount (8)  sequence (4)  hash of outputs (32)  locktime (4)  sighash type (4)
//
// A hash of what the sighash type leaves open is zero.
func (t *unsignedTx) segwitDigest(in *input, sighash byte) [32]byte {
	var outpoints, sequences, outputs [32]byte
	hashes, only := t.segwitHashes(), sighash&sighashOutputs
	if sighash&sighashAnyoneCanPay == 0 {
		outpoints = hashes.outpoints
		if only != sighashNone && only != sighashSingle {
			sequences = hashes.sequences
		}
	}
	switch {
	case only == sighashSingle && in.index < len(t.packet.Outputs):
		out := &t.packet.Outputs[in.index]
		outputs = chainhash.DoubleHashH(psbt.AppendTxOut(nil, out.Amount, out.Script))
	case only != sighashNone && only != sighashSingle:
		outputs = hashes.outputs
	}
	code := in.code
	if in.kind == p2wpkh || in.kind == p2shP2wpkh {
		code = p2pkhScript([20]byte(code[2:]))
	}
	item := t.inputItem(in.index)
	out := append(make([]byte, 0, 165+len(code)), t.raw[:4]...)
	out = append(append(out, outpoints[:]...), sequences[:]...)
	out = append(out, item[:36]...)
	out = append(psbt.AppendCompactSize(out, uint64(len(code))), code...)
	out = binary.LittleEndian.AppendUint64(out, in.amount)
	out = append(append(out, item[37:]...), outputs[:]...)
	out = append(out, t.raw[len(t.raw)-4:]...)
	return chainhash.DoubleHashH(append(out, sighash, 0, 0, 0))
}

// inputItem returns an input in the unsigned transaction:
//
//	outpoint (36)  00  sequence (4)
func (t *unsignedTx) inputItem(index int) []byte {
	start := 4 + psbt.CompactSizeLen(uint64(len(t.inputs))) + index*inputItemSize
	return t.raw[start : start+inputItemSize]
}

const inputItemSize = 36 + 1 + 4

// segwitHashes are the hashes of BIP-143 over all inputs and all outputs.
type segwitHashes struct{ outpoints, sequences, outputs [32]byte }

// segwitHashes computes the hashes once, so that the cost of an input does not depend
// on how many there are.
func (t *unsignedTx) segwitHashes() *segwitHashes {
	if t.segwit != nil {
		return t.segwit
	}
	outpoints, sequences := make([]byte, 0, 36*len(t.inputs)), make([]byte, 0, 4*len(t.inputs))
	for i := range t.inputs {
		item := t.inputItem(i)
		outpoints, sequences = append(outpoints, item[:36]...), append(sequences, item[37:]...)
	}
	outputs := 4 + psbt.CompactSizeLen(uint64(len(t.inputs))) + len(t.inputs)*inputItemSize +
		psbt.CompactSizeLen(uint64(len(t.packet.Outputs)))
	t.segwit = &segwitHashes{
		outpoints: chainhash.DoubleHashH(outpoints),
		sequences: chainhash.DoubleHashH(sequences),
		outputs:   chainhash.DoubleHashH(t.raw[outputs : len(t.raw)-4]),
	}
	return t.segwit
}

// legacyDigest returns the digest of a legacy input with SIGHASH_ALL: SHA-256 twice
// over the unsigned transaction, with the script that is run as the input's own script,
// followed by the sighash type.
//
//	… outpoint  <length> script  sequence …   01000000
//
// The whole transaction is hashed for each input, so that n inputs cost n²: this is
// inherent in pre-segwit sighashes. The bytes in front of the input are hashed once for
// all inputs, which halves the cost; txscript would also copy the transaction.
func (t *unsignedTx) legacyDigest(in *input) (digest [32]byte) {
	// of the empty script's length
	offset := 4 + psbt.CompactSizeLen(uint64(len(t.inputs))) + in.index*inputItemSize + 36
	hash := t.hashUpTo(offset)
	var length [9]byte
	hash.Write(psbt.AppendCompactSize(length[:0], uint64(len(in.code))))
	hash.Write(in.code)
	hash.Write(t.raw[offset+1:])
	hash.Write([]byte{sighashAll, 0, 0, 0})
	hash.Sum(digest[:0])
	return sha256.Sum256(digest[:])
}

// hashUpTo returns a hash of the first bytes of the unsigned transaction, which the
// caller can continue. It continues from the previous call if that was for fewer bytes.
func (t *unsignedTx) hashUpTo(offset int) hash.Hash {
	if t.prefix == nil || t.hashed > offset {
		t.prefix, t.hashed = sha256.New().(hash.Cloner), 0
	}
	t.prefix.Write(t.raw[t.hashed:offset])
	t.hashed = offset
	clone, err := t.prefix.Clone()
	if err != nil {
		panic("bitcoin: SHA-256 can be cloned: " + err.Error())
	}
	return clone
}

// taprootDigest returns the digest of a BIP-340 signature of the input: for the key
// path (BIP-341), or for a leaf given by its hash (BIP-342).
func (t *unsignedTx) taprootDigest(in *input, sighash byte, leafHash []byte) (digest [32]byte, err error) {
	t.prepare()
	var hash []byte
	if leafHash == nil {
		hash, err = txscript.CalcTaprootSignatureHash(t.hashes, txscript.SigHashType(sighash), t.tx, in.index, t.spent)
	} else {
		hash, err = txscript.CalcTapscriptSignaturehash(t.hashes, txscript.SigHashType(sighash), t.tx, in.index,
			t.spent,
			txscript.TapLeaf{}, txscript.WithBaseTapscriptVersion(noCodeSeparator, leafHash))
	}
	copy(digest[:], hash)
	return digest, err
}

// noCodeSeparator is the position of the last OP_CODESEPARATOR if there is none.
const noCodeSeparator = 0xffffffff

// prepare builds the transaction for txscript and computes the midstates of BIP-341,
// once, so that the cost of an input does not depend on how many there are.
func (t *unsignedTx) prepare() {
	if t.hashes != nil {
		return
	}
	t.tx = wire.NewMsgTx(int32(t.packet.TxVersion))
	t.tx.LockTime = t.packet.LockTime
	spent := make(map[wire.OutPoint]*wire.TxOut, len(t.inputs))
	for i := range t.inputs {
		in := &t.inputs[i]
		from := wire.OutPoint{Hash: in.PreviousTxID, Index: in.OutputIndex}
		t.tx.TxIn = append(t.tx.TxIn, &wire.TxIn{PreviousOutPoint: from, Sequence: in.Sequence})
		spent[from] = wire.NewTxOut(int64(in.amount), in.script)
	}
	for i := range t.packet.Outputs {
		t.tx.TxOut = append(t.tx.TxOut, wire.NewTxOut(int64(t.packet.Outputs[i].Amount), t.packet.Outputs[i].Script))
	}
	t.spent = txscript.NewMultiPrevOutFetcher(spent)
	t.hashes = txscript.NewTxSigHashes(t.tx, t.spent)
}
