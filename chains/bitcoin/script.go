package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"
)

// scriptType is how an output is locked, as far as its scripts are known.
type scriptType uint8

const (
	nonStandard scriptType = iota
	p2pk
	p2pkh
	bareMultisig
	p2sh        // with a legacy redeem script
	p2shUnknown // without its redeem script
	p2wpkh
	p2wsh
	p2shP2wpkh
	p2shP2wsh
	p2tr
	p2a            // pay to anchor (BIP-433): spent with an empty witness, by anyone
	unknownWitness // of a version or length that has no rules yet, or none to sign
)

var scriptTypeNames = [...]string{
	nonStandard: "non-standard", p2pk: "P2PK", p2pkh: "P2PKH", bareMultisig: "multisig", p2sh: "P2SH",
	p2shUnknown: "P2SH", p2wpkh: "P2WPKH", p2wsh: "P2WSH", p2shP2wpkh: "P2SH-P2WPKH", p2shP2wsh: "P2SH-P2WSH",
	p2tr: "P2TR", p2a: "P2A", unknownWitness: "unknown witness",
}

func (s scriptType) String() string { return scriptTypeNames[s] }

// family is the kind of signature that an input takes.
type family uint8

const (
	unknown   family = iota
	legacy           // commits to no amount
	segwitV0         // BIP-143: commits to the amount of its own input
	taprootV1        // BIP-341: commits to all amounts
)

func (s scriptType) family() family {
	switch s {
	case nonStandard, p2pk, p2pkh, bareMultisig, p2sh:
		return legacy
	case p2wpkh, p2wsh, p2shP2wpkh, p2shP2wsh:
		return segwitV0
	case p2tr:
		return taprootV1
	}
	return unknown
}

// classify returns how a script locks an output, as far as the script itself says.
func classify(script []byte) scriptType {
	switch {
	case txscript.IsPayToWitnessPubKeyHash(script):
		return p2wpkh
	case txscript.IsPayToTaproot(script):
		return p2tr
	case txscript.IsPayToWitnessScriptHash(script):
		return p2wsh
	case txscript.IsPayToPubKeyHash(script):
		return p2pkh
	case txscript.IsPayToScriptHash(script):
		return p2shUnknown
	case txscript.IsPayToAnchorScript(script):
		return p2a
	case txscript.IsWitnessProgram(script):
		return unknownWitness
	case txscript.IsPayToPubKey(script):
		return p2pk
	}
	if multisig, err := txscript.IsMultisigScript(script); err == nil && multisig {
		return bareMultisig
	}
	return nonStandard
}

// pushes calls yield with each opcode of a script and the data that it pushes, until
// yield returns true. It reports whether the script is whole.
func pushes(script []byte, yield func(op byte, data []byte) bool) bool {
	tokens := txscript.MakeScriptTokenizer(0, script)
	for tokens.Next() {
		if yield(tokens.Opcode(), tokens.Data()) {
			return true
		}
	}
	return tokens.Err() == nil
}

// hasPush reports whether a script pushes one of some data.
func hasPush(script []byte, wanted ...[]byte) bool {
	has := false
	if slices.ContainsFunc(wanted, func(data []byte) bool { return bytes.Contains(script, data) }) {
		pushes(script, func(_ byte, pushed []byte) bool {
			has = slices.ContainsFunc(wanted, func(data []byte) bool { return bytes.Equal(pushed, data) })
			return has
		})
	}
	return has
}

// hasCodeSeparator reports whether a script has OP_CODESEPARATOR: then the digest
// depends on how the script is run.
func hasCodeSeparator(script []byte) bool {
	return bytes.IndexByte(script, txscript.OP_CODESEPARATOR) >= 0 && hasOpcode(script, txscript.OP_CODESEPARATOR)
}

func hasOpcode(script []byte, wanted ...byte) (has bool) {
	pushes(script, func(op byte, _ []byte) bool {
		has = slices.Contains(wanted, op)
		return has
	})
	return has
}

// maxScript is the longest script that is run, in bytes (consensus). Tapscript has no such limit.
const maxScript = 10_000

func p2wshScript(witness []byte) []byte {
	hash := sha256.Sum256(witness)
	return append([]byte{txscript.OP_0, 32}, hash[:]...)
}

func p2pkhScript(hash [20]byte) []byte {
	script := append(make([]byte, 0, 25), txscript.OP_DUP, txscript.OP_HASH160, 20)
	return append(append(script, hash[:]...), txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
}

func p2wpkhScript(hash [20]byte) []byte {
	return append(append(make([]byte, 0, 22), txscript.OP_0, 20), hash[:]...)
}

func p2shScript(hash [20]byte) []byte {
	script := append(make([]byte, 0, 23), txscript.OP_HASH160, 20)
	return append(append(script, hash[:]...), txscript.OP_EQUAL)
}

func firstPush(script []byte) (first []byte) {
	pushes(script, func(_ byte, data []byte) bool {
		first = data
		return len(data) > 0
	})
	return first
}
