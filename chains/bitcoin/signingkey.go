package bitcoin

import (
	"bytes"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/secp256k1"
	"github.com/countersign-dev/countersign/keystore"
)

// task is one signature that a key can make: ECDSA, or BIP-340 if schnorr is set, with
// the tweak and for the leaf, if any.
type task struct {
	by      *signingKey
	in      *input
	schnorr bool
	tweak   keystore.TaprootTweak
	leaf    *leaf
}

// signingKey is what a key can sign in the inputs.
type signingKey struct {
	signer  keystore.Key
	pub     keystore.PublicKey
	reasons []string    // why it signs nothing in an input; empty if it can sign there
	scripts []keyScript // see addresses
	hash    [20]byte    // of the compressed key
	key     [33]byte    // compressed
	nested  []byte      // the P2SH-P2WPKH script; see locks
}

// newSigningKey returns the matches of a key in a number of inputs.
func newSigningKey(key keystore.Key, inputs int) *signingKey {
	pub := key.PublicKey()
	return &signingKey{signer: key, pub: pub, reasons: make([]string, inputs), hash: pub.Hash160(), key: pub.Compressed()}
}

// addresses returns the output scripts of the key's addresses. The first call costs a
// point multiplication.
func (m *signingKey) addresses() []keyScript {
	if m.scripts == nil {
		m.scripts, _ = keyScripts(m.pub) // the key is on the curve
	}
	return m.scripts
}

// redeemScript returns the P2WPKH script of the key, if the hash of it is what an output is
// locked to: then it is the redeem script, whether or not the PSBT has it.
func (m *signingKey) redeemScript(script []byte) (redeem []byte, ok bool) {
	redeem = p2wpkhScript(m.hash)
	if m.nested == nil {
		m.nested = p2shScript([20]byte(address.Hash160(redeem)))
	}
	return redeem, bytes.Equal(script, m.nested)
}

// isUncompressed reports whether a script is P2PKH of the key in its uncompressed form.
func (m *signingKey) isUncompressed(script []byte) bool {
	if classify(script) != p2pkh || bytes.Equal(script[3:23], m.hash[:]) {
		return false
	}
	uncompressed := m.pub.Uncompressed()
	return bytes.Equal(script[3:23], address.Hash160(uncompressed[:]))
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

// unsignable returns why no key can make an ECDSA signature of the input, or empty if
// one can.
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

// appendTasks appends the signatures that the key can make in an input, or returns
// the reason why it can make none.
func (m *signingKey) appendTasks(tasks []task, in *input) (_ []task, reason string) {
	if in.kind == p2tr {
		return m.appendTaproot(tasks, in)
	}
	if reason = in.unsignable(); reason == "" {
		reason = m.inScript(in)
	} else if in.final {
		reason = reasonFinal
	}
	if reason != "" {
		return tasks, reason
	}
	return append(tasks, task{by: m, in: in}), ""
}

// inScript returns empty if the script that is run names the key, by itself or by its
// hash, or else why it is not signed.
func (m *signingKey) inScript(in *input) string {
	switch in.kind {
	case p2wpkh, p2shP2wpkh:
		return m.hashReason(in.code[2:])
	case p2pkh:
		if m.isUncompressed(in.code) {
			return reasonUncompressed
		}
		return m.hashReason(in.code[3:23])
	}
	if !bytes.Contains(in.code, m.key[1:]) && !bytes.Contains(in.code, m.hash[:]) {
		return reasonNotInScript
	}
	uncompressed := m.pub.Uncompressed()
	found, uncompressedFound := false, false
	whole := pushes(in.code, func(_ byte, data []byte) bool {
		found = found || bytes.Equal(data, m.key[:]) || bytes.Equal(data, m.hash[:])
		uncompressedFound = uncompressedFound || bytes.Equal(data, uncompressed[:])
		return false
	})
	switch {
	case !whole:
		return reasonBroken
	case found:
		return ""
	case uncompressedFound:
		return reasonUncompressed
	}
	return reasonNotInScript
}

func (m *signingKey) hashReason(hash []byte) string {
	if !bytes.Equal(hash, m.hash[:]) {
		return reasonOtherKey
	}
	return ""
}

// appendTaproot is appendTasks for P2TR: it prefers the key path, and else takes
// every leaf that has the key.
func (m *signingKey) appendTaproot(tasks []task, in *input) (_ []task, reason string) {
	if tweak, ok := m.keyPath(in.taproot); ok {
		return append(tasks, task{by: m, in: in, schnorr: true, tweak: tweak}), ""
	}
	before := len(tasks)
	reason = reasonNotTaproot
	for i := range in.taproot.leaves {
		leaf := &in.taproot.leaves[i]
		if !leaf.has(m.key[1:]) {
			continue
		}
		if leaf.version != byte(txscript.BaseLeafVersion) || hasCodeSeparator(leaf.script) || txscript.ScriptHasOpSuccess(leaf.script) {
			reason = reasonLeafRefused
			continue
		}
		tasks = append(tasks, task{by: m, in: in, schnorr: true, tweak: keystore.ScriptPath(), leaf: leaf})
	}
	switch {
	case len(tasks) > before:
		reason = ""
	case reason == reasonNotTaproot && in.final:
		reason = reasonFinal
	}
	return tasks, reason
}

// keyPath finds the tweak under which the key is the output key: of the internal key
// with its merkle root; where the PSBT names no internal key, of this key with the root
// or with none (BIP-86); or none, where the output key is this key itself.
func (m *signingKey) keyPath(tap *taproot) (keystore.TaprootTweak, bool) {
	if bytes.Equal(tap.output, m.key[1:]) {
		return keystore.ScriptPath(), true
	}
	tweak := keystore.KeyPath()
	if tap.root != nil {
		tweak = keystore.KeyPathWithRoot([32]byte(tap.root))
	}
	if tap.internal != nil {
		return tweak, bytes.Equal(tap.internal, m.key[1:]) // the PSBT's own tweak was checked
	}
	output, err := secp256k1.OutputKey([32]byte(m.key[1:]), tap.root)
	return tweak, err == nil && bytes.Equal(output.X[:], tap.output)
}

// has reports whether the leaf's script pushes an x-only key.
func (l *leaf) has(key []byte) bool {
	if !bytes.Contains(l.script, key) {
		return false
	}
	found := false
	pushes(l.script, func(_ byte, data []byte) bool {
		found = bytes.Equal(data, key)
		return found
	})
	return found
}

// maxRecordKey is the longest key that appendKey appends: type, x-only key, leaf hash.
const maxRecordKey = 1 + 32 + 32

// appendKey appends the key of the record that the task's signature goes into.
func (k *task) appendKey(out []byte) []byte {
	switch {
	case !k.schnorr:
		return append(append(out, psbt.InPartialSig), k.by.key[:]...)
	case k.leaf == nil:
		return append(out, psbt.InTapKeySig)
	}
	out = append(append(out, psbt.InTapScriptSig), k.by.key[1:]...)
	return append(out, k.leaf.hash[:]...)
}

// done reports whether the PSBT already has the task's signature. It was verified when
// the PSBT was read.
func (k *task) done() bool {
	var room [maxRecordKey]byte
	key := k.appendKey(room[:0])
	for record := range k.in.All(uint64(key[0])) {
		if bytes.Equal(record.Key, key) {
			return true
		}
	}
	return false
}
