package bitcoin

import (
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// ToSign is a message for the owner of an address to sign (BIP-322). Its PSBT is signed
// like a transaction; [MessageSignature] turns the signed PSBT into the signature that
// verifiers accept.
type ToSign struct {
	Text    string
	Address string // of the signer

	// RedeemScript and WitnessScript are those of Address, if it is of a script.
	RedeemScript, WitnessScript []byte

	// Funds is a PSBT of either version whose inputs the signer also shows to control:
	// a proof of funds. Its outputs and signatures are ignored. Nil for none.
	Funds []byte

	// LockTime, and Sequence of the input that stands for the address, are for scripts
	// with time locks.
	LockTime, Sequence uint32
}

// PSBT returns to_sign as a PSBT of version 0, with the message in
// PSBT_GLOBAL_GENERIC_SIGNED_MESSAGE. It does not check the message, which Parse does.
// The error is a *chains.SignerError about the address, or a *chains.ParseError about
// the funds.
func (m ToSign) PSBT() ([]byte, error) {
	signer, err := parseAddress(m.Address)
	if err != nil {
		return nil, err
	}
	var funds *psbt.Packet
	if m.Funds != nil {
		if funds, err = psbt.Read(m.Funds); err != nil {
			return nil, err
		}
	}
	packet := psbt.Packet{
		Global: psbt.Map{Records: []psbt.Record{
			recordOf(psbt.GlobalUnsignedTx, m.unsigned(signer.script, funds)),
			recordOf(psbt.GlobalSignedMessage, []byte(m.Text)),
		}},
		Inputs: []psbt.Input{{Map: psbt.Map{Records: m.records(signer.script)}}}, Outputs: make([]psbt.Output, 1),
	}
	if funds != nil {
		for i := range funds.Inputs {
			var records []psbt.Record
			for _, record := range funds.Inputs[i].Records {
				if slices.Contains(spendingFields, record.Type) {
					records = append(records, record)
				}
			}
			packet.Inputs = append(packet.Inputs, psbt.Input{Map: psbt.Map{Records: records}})
		}
	}
	return packet.Encode(), nil
}

// unsigned returns to_sign in the network's encoding.
//
//	00000000                                version; 2 with a time lock
//	n  <to_spend id> 00000000 00 <sequence> its first input, and the funds
//	01 0000000000000000 01 6a               OP_RETURN
//	00000000                                locktime
func (m ToSign) unsigned(script []byte, funds *psbt.Packet) []byte {
	packet := psbt.Packet{Version: psbt.Version2, LockTime: m.LockTime,
		Inputs:  []psbt.Input{{PreviousTxID: ToSpendID([]byte(m.Text), script), Sequence: m.Sequence}},
		Outputs: []psbt.Output{{Script: []byte{txscript.OP_RETURN}}}}
	if m.LockTime != 0 || m.Sequence != 0 {
		packet.TxVersion = 2 // BIP-68
	}
	if funds != nil {
		packet.Inputs = append(packet.Inputs, funds.Inputs...)
	}
	return packet.Unsigned()
}

// records returns the records of the input that stands for the address.
func (m ToSign) records(script []byte) []psbt.Record {
	records := []psbt.Record{recordOf(psbt.InNonWitnessUTXO, ToSpend([]byte(m.Text), script))}
	if txscript.IsWitnessProgram(script) || txscript.IsWitnessProgram(m.RedeemScript) {
		records = append(records, recordOf(psbt.InWitnessUTXO, psbt.AppendTxOut(nil, 0, script)))
	}
	if m.RedeemScript != nil {
		records = append(records, recordOf(psbt.InRedeemScript, m.RedeemScript))
	}
	if m.WitnessScript != nil {
		records = append(records, recordOf(psbt.InWitnessScript, m.WitnessScript))
	}
	return records
}

// spendingFields are the fields that say what an input spends, and how.
var spendingFields = []uint64{
	psbt.InNonWitnessUTXO, psbt.InWitnessUTXO, psbt.InRedeemScript, psbt.InWitnessScript, psbt.InBIP32Derivation,
	psbt.InTapLeafScript, psbt.InTapBIP32Derivation, psbt.InTapInternalKey, psbt.InTapMerkleRoot,
}

// recordOf returns a record whose key is its type alone.
func recordOf(keyType byte, value []byte) psbt.Record {
	return psbt.Record{Type: uint64(keyType), Key: []byte{keyType}, Value: value}
}
