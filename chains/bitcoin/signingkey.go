package bitcoin

import (
	"bytes"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/secp256k1"
	"github.com/countersign-dev/countersign/keystore"
)

// signature is one that a key can make in an input: ECDSA, or BIP-340 if schnorr is set, with
// the tweak and for the leaf, if any.
type signature struct {
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
	scripts []keyScript // of its addresses; nil until they are asked for, which costs a point multiplication
	hash    [20]byte    // of the compressed key
	key     [33]byte    // compressed
	nested  []byte      // the P2SH-P2WPKH script; see locks
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

// appendSignatures appends the signatures that the key can make in an input, or returns
// the reason why it can make none.
func (m *signingKey) appendSignatures(list []signature, in *input) (_ []signature, reason string) {
	if in.kind == p2tr {
		return m.appendTaproot(list, in)
	}
	if reason = in.unsignable(); reason == "" {
		reason = m.inScript(in)
	} else if in.final {
		reason = reasonFinal
	}
	if reason != "" {
		return list, reason
	}
	return append(list, signature{by: m, in: in}), ""
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

// appendTaproot is appendSignatures for P2TR: it prefers the key path, and else takes
// every leaf that has the key.
func (m *signingKey) appendTaproot(list []signature, in *input) (_ []signature, reason string) {
	if tweak, ok := m.keyPath(in.taproot); ok {
		return append(list, signature{by: m, in: in, schnorr: true, tweak: tweak}), ""
	}
	before := len(list)
	reason = reasonNotTaproot
	for i := range in.taproot.leaves {
		leaf := &in.taproot.leaves[i]
		if !hasPush(leaf.script, m.key[1:]) {
			continue
		}
		if leaf.version != byte(txscript.BaseLeafVersion) || hasCodeSeparator(leaf.script) ||
			txscript.ScriptHasOpSuccess(leaf.script) {
			reason = reasonLeafRefused
			continue
		}
		list = append(list, signature{by: m, in: in, schnorr: true, tweak: keystore.ScriptPath(), leaf: leaf})
	}
	switch {
	case len(list) > before:
		reason = ""
	case reason == reasonNotTaproot && in.final:
		reason = reasonFinal
	}
	return list, reason
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

// maxRecordKey is the longest key that appendKey appends: type, x-only key, leaf hash.
const maxRecordKey = 1 + 32 + 32

func (sig *signature) appendKey(out []byte) []byte {
	switch {
	case !sig.schnorr:
		return append(append(out, psbt.InPartialSig), sig.by.key[:]...)
	case sig.leaf == nil:
		return append(out, psbt.InTapKeySig)
	}
	out = append(append(out, psbt.InTapScriptSig), sig.by.key[1:]...)
	return append(out, sig.leaf.hash[:]...)
}

// made reports whether the PSBT already has the signature. It was verified when the PSBT was read.
func (sig *signature) made() bool {
	var room [maxRecordKey]byte
	return sig.in.Get(sig.appendKey(room[:0])) != nil
}
