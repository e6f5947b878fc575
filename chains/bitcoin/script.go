package bitcoin

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
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

const (
	fieldRedeemScript  = "PSBT_IN_REDEEM_SCRIPT"
	fieldWitnessScript = "PSBT_IN_WITNESS_SCRIPT"
)

// maxRedeemScript is the longest script that a P2SH input can push.
const maxRedeemScript = 520

// readScripts finds the script that is run, and checks that redeem and witness script
// are those that the output is locked to.
func (in *input) readScripts() error {
	in.kind, in.code = classify(in.script), in.script
	if in.kind == p2shUnknown {
		if err := in.readRedeemScript(); err != nil {
			return err
		}
	} else if in.Find(psbt.InRedeemScript) != nil {
		return in.refuse(fieldRedeemScript, psbt.InRedeemScript, "the output that is spent is not P2SH but %s", in.kind)
	}
	if in.kind == p2wsh || in.kind == p2shP2wsh {
		if err := in.readWitnessScript(); err != nil {
			return err
		}
	} else if in.Find(psbt.InWitnessScript) != nil {
		return in.refuse(fieldWitnessScript, psbt.InWitnessScript, "the output that is spent is not P2WSH but %s", in.kind)
	}
	return in.readTaproot()
}

// readRedeemScript reads the redeem script of P2SH: a914 <hash160 of the redeem script>
// 87.
func (in *input) readRedeemScript() error {
	record := in.Find(psbt.InRedeemScript)
	if in.code = nil; record == nil {
		return nil
	}
	redeem := record.Value
	if !bytes.Equal(address.Hash160(redeem), in.script[2:22]) {
		return in.refuse(fieldRedeemScript, psbt.InRedeemScript, "does not hash to what the output is locked to, %x", in.script[2:22])
	}
	if len(redeem) > maxRedeemScript {
		return in.refuse(fieldRedeemScript, psbt.InRedeemScript, "%d bytes, at most %d can be spent", len(redeem), maxRedeemScript)
	}
	in.code = redeem
	switch classify(redeem) {
	case p2wpkh:
		in.kind = p2shP2wpkh
	case p2wsh:
		in.kind = p2shP2wsh
	case p2tr, p2a, unknownWitness: // only witness version 0 can be nested
		in.kind = unknownWitness
	default:
		in.kind = p2sh
	}
	return nil
}

// readWitnessScript reads the witness script of P2WSH: 0020 <SHA-256 of the witness
// script>.
func (in *input) readWitnessScript() error {
	program := in.code
	record := in.Find(psbt.InWitnessScript)
	if in.code = nil; record == nil {
		return nil
	}
	if hash := sha256.Sum256(record.Value); !bytes.Equal(hash[:], program[2:]) {
		return in.refuse(fieldWitnessScript, psbt.InWitnessScript, "does not hash to what the output is locked to, %x", program[2:])
	}
	if len(record.Value) > maxScript {
		return in.refuse(fieldWitnessScript, psbt.InWitnessScript, "%d bytes, at most %d can be spent", len(record.Value), maxScript)
	}
	in.code = record.Value
	return nil
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

// hasCodeSeparator reports whether a script has OP_CODESEPARATOR: then the digest
// depends on how the script is run.
func hasCodeSeparator(script []byte) bool {
	if bytes.IndexByte(script, txscript.OP_CODESEPARATOR) < 0 {
		return false
	}
	has := false
	pushes(script, func(op byte, _ []byte) bool {
		has = has || op == txscript.OP_CODESEPARATOR
		return has
	})
	return has
}
