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

// message is a statement to be signed (BIP-322, version 2.0.0). Its transaction,
// to_sign, spends an output that does not exist and never can, so that it moves
// nothing.
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
