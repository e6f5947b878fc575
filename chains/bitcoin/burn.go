package bitcoin

import (
	"bytes"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/secp256k1"
)

// maxScript is the longest script that is run, in bytes (consensus). Tapscript
// has no such limit.
const maxScript = 10_000

// fate is what becomes of an output's value.
type fate uint8

const (
	spendable   fate = iota // by its owner
	burned                  // never by anyone
	upForGrabs              // by anyone, or the script does not say by whom
	uncommitted             // a signature leaves the output open
	instructs               // the output is an instruction to a protocol of tokens
	unaccounted             // this output, and those behind it, are more than there are effects for
)

// fateOf returns who can spend an output with this script, and why if its owner cannot.
// A script of no known form counts as spendable by anyone: nodes do not relay it.
func fateOf(script []byte) (fate, string) {
	switch classify(script) {
	case p2pkh, p2wpkh, p2shUnknown, p2wsh:
		if program := programOf(script); len(bytes.Trim(program, "\x00")) == 0 {
			return burned, "a hash of zeros: no key or script is known that has it"
		}
		return spendable, ""
	case p2tr:
		if !secp256k1.OnCurve([32]byte(script[2:])) {
			return burned, "its output key is not a point of the curve"
		}
		return spendable, ""
	case p2pk, bareMultisig:
		return keysFate(script)
	case p2a:
		return upForGrabs, "pay to anchor: anyone can spend it"
	case unknownWitness:
		if script[0] == txscript.OP_0 {
			return burned, "a witness program of version 0 that is neither P2WPKH nor P2WSH"
		}
		return upForGrabs, "a witness program that has no rules yet: anyone can spend it"
	}
	if txscript.IsUnspendable(script) {
		return burned, "it can never be spent"
	}
	return upForGrabs, "a script of no known form: anyone may be able to spend it, or no one"
}

// programOf returns the hash in a script of a known form.
func programOf(script []byte) (program []byte) {
	pushes(script, func(_ byte, data []byte) bool {
		program = data
		return len(data) > 0
	})
	return program
}

// keysFate is fateOf for P2PK and multisig scripts, which are burned if fewer of their
// keys are points of the curve than must sign.
func keysFate(script []byte) (fate, string) {
	need, points := 1, 0
	if _, m, err := txscript.CalcMultiSigStats(script); err == nil {
		need = m
	}
	pushes(script, func(_ byte, key []byte) bool {
		if _, err := btcec.ParsePubKey(key); err == nil {
			points++
		}
		return false
	})
	if points < need {
		return burned, fmt.Sprintf("%d of its keys must sign, %d are points of the curve", need, points)
	}
	return spendable, ""
}

// outputHazards returns the hazards of value for outputs that no one or anyone can
// spend, which Bitcoin Core refuses to send by default (maxburnamount), and of what
// is not decoded. They point at the effects.
func (t *transaction) outputHazards(signed []*input) []chains.Hazard {
	var hazards []chains.Hazard
	for effect, o := range t.outcomes(signed) {
		value := t.packet.Outputs[o.output].Amount
		var name, detail string
		switch o.fate {
		case burned:
			name, detail = HazardBurn, btc(value)+" cannot be spent: "+o.why
		case upForGrabs:
			name, detail = HazardAnyoneCanSpend, btc(value)+" is not locked to anyone: "+o.why
		case instructs:
			name, detail = HazardBlindCall, "it instructs "+o.why+": which tokens it moves is not known"
		case unaccounted:
			name = HazardBlindCall
			detail = fmt.Sprintf("this output and those behind it are more than the %d that are accounted for", chains.MaxEffects)
		default:
			continue
		}
		hazards = append(hazards, chains.Hazard{Name: name, Detail: o.path() + ": " + detail}.OnEffect(effect))
	}
	return hazards
}
