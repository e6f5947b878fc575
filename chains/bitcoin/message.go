package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/texts"
)

// tagMessage is the tag of BIP-322's message hash.
var tagMessage = []byte("BIP0322-signed-message")

// message is a statement to be signed (BIP-322, version 2.0.0). Its transaction, to_sign, spends an
// output that does not exist and never can, so that it moves nothing.
type message struct {
	*texts.Text
	script []byte // of the address that makes the statement
}

// readMessage detects a message; it returns none for a transaction. A PSBT with
// PSBT_GLOBAL_GENERIC_SIGNED_MESSAGE must be exactly to_sign. A PSBT that looks like to_sign
// without that field is refused, because its statement could not be shown.
func readMessage(packet *psbt.Packet, inputs []input) (*message, error) {
	const field = "PSBT_GLOBAL_GENERIC_SIGNED_MESSAGE"
	record, in := packet.Global.Find(psbt.GlobalSignedMessage), &inputs[0]
	if record == nil {
		// It pays nothing, and its first input spends nothing or what only BIP-322 creates.
		if in.amount == 0 && paysNothing(packet) || bytes.HasPrefix(in.Value(psbt.InNonWitnessUTXO), toSpendHead) {
			return nil, malformed("transaction", -1, "it is a BIP-322 message without its text: add %s", field)
		}
		return nil, nil
	}
	refuse := func(format string, args ...any) (*message, error) {
		return nil, malformed(field, record.ValueOffset(), format, args...)
	}
	if problem := plaintext.Problem(record.Value); problem != "" {
		return refuse("%s", problem)
	}
	if in.PreviousTxID != ToSpendID(record.Value, in.script) || in.OutputIndex != 0 || in.amount != 0 {
		return refuse("input 0 does not spend what BIP-322 makes of this message and the script %x", in.script)
	}
	if !paysNothing(packet) || packet.TxVersion != 0 && packet.TxVersion != 2 {
		return refuse("a BIP-322 message has one output, of 0 satoshi to OP_RETURN alone, and version 0 or 2")
	}
	for i := range inputs {
		if inputs[i].sighash > sighashAll {
			return refuse("input %d asks for %s: a BIP-322 message is signed with SIGHASH_ALL or SIGHASH_DEFAULT",
				i, sighashName(inputs[i].sighash))
		}
	}
	return &message{Text: texts.Read(record.Value, nil), script: in.script}, nil
}

// paysNothing reports whether the only output is 0 satoshi to a bare OP_RETURN.
func paysNothing(packet *psbt.Packet) bool {
	outputs := packet.Outputs
	return len(outputs) == 1 && outputs[0].Amount == 0 && bytes.Equal(outputs[0].Script, []byte{txscript.OP_RETURN})
}

// toSpendHead is how to_spend begins, up to the hash of the message. No transaction of
// the network begins like this: the script of a coinbase begins with a height.
var toSpendHead = slices.Concat(
	[]byte{0, 0, 0, 0, 1}, make([]byte, 32), []byte{0xff, 0xff, 0xff, 0xff, 34, txscript.OP_0, 32},
)

const messagePath = "message"

// ToSpendID returns the id of ToSpend, in wire order.
func ToSpendID(text, script []byte) [32]byte {
	once := sha256.Sum256(ToSpend(text, script))
	return sha256.Sum256(once[:])
}

// ToSpend returns BIP-322's to_spend: the virtual transaction whose output the
// signer of a message spends, locked to the script of the signer's address.
//
//	00000000                             version 0
//	01  0…0 ffffffff                     one input, of no transaction
//	22  00 20 <tagged hash of message>   its script
//	00000000                             sequence
//	01  0000000000000000 <script>        one output of 0 satoshi
//	00000000                             locktime
func ToSpend(text, script []byte) []byte {
	hash := chainhash.TaggedHash(tagMessage, text)
	out := append(bytes.Clone(toSpendHead), hash[:]...)
	out = append(append(out, 0, 0, 0, 0), 1)
	out = append(out, make([]byte, 8)...)
	out = append(psbt.AppendCompactSize(out, uint64(len(script))), script...)
	return append(out, 0, 0, 0, 0)
}

// ToSign is a message for the owner of an address to sign (BIP-322). Its PSBT is signed like a
// transaction; [MessageSignature] turns the signed PSBT into the signature that verifiers accept.
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
// PSBT_GLOBAL_GENERIC_SIGNED_MESSAGE. It does not check the message, which Parse does. The error is
// a *chains.SignerError about the address, or a *chains.ParseError about the funds.
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
