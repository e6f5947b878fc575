package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// readUTXO finds the amount and the script of the output that is spent.
//
// PSBT_IN_NON_WITNESS_UTXO is the whole transaction, whose id is that of the outpoint:
// it proves the amount. PSBT_IN_WITNESS_UTXO is only a claim.
func (in *input) readUTXO() (err error) {
	claim := in.Value(psbt.InWitnessUTXO)
	if in.Previous == nil {
		if claim == nil {
			return in.refuseAt(in.End, psbt.InWitnessUTXO,
				"missing, and PSBT_IN_NON_WITNESS_UTXO too: without the output that is spent neither amount nor "+
					"script is known")
		}
		in.amount, in.script, err = psbt.ReadTxOut(claim)
		return err
	}
	if id := in.Previous.ID(); id != in.PreviousTxID {
		return in.refuse(psbt.InNonWitnessUTXO,
			"transaction %s, but the input spends an output of %s", chainhash.Hash(id), chainhash.Hash(in.PreviousTxID))
	}
	if in.amount, in.script, err = in.Previous.Output(in.OutputIndex); err != nil {
		return in.refuse(psbt.InNonWitnessUTXO, "%s", err)
	}
	if in.proven = true; claim == nil {
		return nil
	}
	amount, script, err := psbt.ReadTxOut(claim)
	switch {
	case err != nil:
		return err
	case amount != in.amount:
		return in.refuse(psbt.InWitnessUTXO, "amount %d, but the spent transaction has %d", amount, in.amount)
	case !bytes.Equal(script, in.script):
		return in.refuse(psbt.InWitnessUTXO, "script %x, but the spent transaction has %x", script, in.script)
	}
	return nil
}

func (in *input) readSighash(outputs int) error {
	if in.sighash = sighashAll; in.kind == p2tr {
		in.sighash = sighashDefault
	}
	value := in.Value(psbt.InSighashType)
	if value == nil {
		return nil
	}
	sighash := binary.LittleEndian.Uint32(value)
	if sighash > 0xff || !knownSighash(byte(sighash), in.kind.family()) {
		return in.refuse(psbt.InSighashType, "unknown sighash type %#x for %s", sighash, in.kind)
	}
	in.sighash, in.declared = byte(sighash), true
	if in.lacksOutput(in.sighash, outputs) {
		return in.refuse(psbt.InSighashType,
			"SIGHASH_SINGLE, but there is no output %d: it would sign for nothing", in.index)
	}
	return nil
}

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
		return in.refuse(psbt.InRedeemScript, "the output that is spent is not P2SH but %s", in.kind)
	}
	if in.kind == p2wsh || in.kind == p2shP2wsh {
		if err := in.readWitnessScript(); err != nil {
			return err
		}
	} else if in.Find(psbt.InWitnessScript) != nil {
		return in.refuse(psbt.InWitnessScript, "the output that is spent is not P2WSH but %s", in.kind)
	}
	return nil
}

// readRedeemScript reads the redeem script of P2SH: a914 <hash160 of the redeem script> 87.
func (in *input) readRedeemScript() error {
	record := in.Find(psbt.InRedeemScript)
	if in.code = nil; record == nil {
		return nil
	}
	redeem := record.Value
	if !bytes.Equal(address.Hash160(redeem), in.script[2:22]) {
		return in.refuse(psbt.InRedeemScript, "does not hash to what the output is locked to, %x", in.script[2:22])
	}
	if len(redeem) > maxRedeemScript {
		return in.refuse(psbt.InRedeemScript, "%d bytes, at most %d can be spent", len(redeem), maxRedeemScript)
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

// readWitnessScript reads the witness script of P2WSH: 0020 <SHA-256 of the witness script>.
func (in *input) readWitnessScript() error {
	program := in.code
	record := in.Find(psbt.InWitnessScript)
	if in.code = nil; record == nil {
		return nil
	}
	if hash := sha256.Sum256(record.Value); !bytes.Equal(hash[:], program[2:]) {
		return in.refuse(psbt.InWitnessScript, "does not hash to what the output is locked to, %x", program[2:])
	}
	if len(record.Value) > maxScript {
		return in.refuse(psbt.InWitnessScript, "%d bytes, at most %d can be spent", len(record.Value), maxScript)
	}
	in.code = record.Value
	return nil
}
