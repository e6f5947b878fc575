package bitcoin

import (
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
)

// transaction is a PSBT that was read and checked: a view over its bytes.
type transaction struct {
	unsignedTx
	limits   Limits
	network  Network // of the addresses shown
	totalIn  uint64  // satoshi
	totalOut uint64
	message  *message // a BIP-322 message; nil if it is a transaction
}

var _ chains.Transaction = (*transaction)(nil)

// read checks everything that depends on no key.
func (t *transaction) read() error {
	if err := t.checkShape(); err != nil {
		return err
	}
	t.inputs = make([]input, len(t.packet.Inputs))
	for i := range t.inputs {
		t.inputs[i].Input, t.inputs[i].index = &t.packet.Inputs[i], i
		if err := t.inputs[i].read(len(t.packet.Outputs)); err != nil {
			return err
		}
	}
	if err := t.checkAmounts(); err != nil {
		return err
	}
	var err error
	if t.message, err = readMessage(t.packet, t.inputs); err != nil {
		return err
	}
	for i := range t.inputs {
		if err := t.checkSignatures(&t.inputs[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkShape refuses what package psbt accepts and no transaction can be.
func (t *transaction) checkShape() error {
	if len(t.packet.Inputs) == 0 {
		return malformed("inputs", t.packet.Global.End, "none: there is nothing to sign")
	}
	if len(t.packet.Outputs) == 0 {
		return malformed("outputs", t.packet.Global.End, "none: the transaction would have no recipient")
	}
	t.raw = t.packet.Unsigned()
	if size := len(t.raw); size > t.limits.MaxUnsignedSize {
		return malformed("transaction", -1, "%d bytes unsigned, at most %d are signed", size, t.limits.MaxUnsignedSize)
	}
	seen := make(map[wire.OutPoint]int, len(t.packet.Inputs))
	for i := range t.packet.Inputs {
		in := &t.packet.Inputs[i]
		if in.PreviousTxID == [32]byte{} {
			return malformed(fmt.Sprintf("input %d", i), in.Offset,
				"spends an output of transaction 0…0, which only a coinbase names")
		}
		outpoint := wire.OutPoint{Hash: in.PreviousTxID, Index: in.OutputIndex}
		if first, twice := seen[outpoint]; twice {
			return malformed(fmt.Sprintf("input %d", i), in.Offset, "spends the same output as input %d", first)
		}
		seen[outpoint] = i
	}
	return nil
}

// read finds what the input spends, and checks what its map says about it.
func (in *input) read(outputs int) error {
	in.final = in.Find(psbt.InFinalScriptSig) != nil || in.Find(psbt.InFinalScriptWitness) != nil
	for _, step := range [...]func(*input) error{(*input).readUTXO, (*input).readScripts, (*input).readTaproot} {
		if err := step(in); err != nil {
			return err
		}
	}
	// The signature of a legacy input commits to no amount at all. Some wallets write
	// PSBT_IN_WITNESS_UTXO as well as the transaction that is spent: it was checked to agree.
	if in.kind.family() == legacy && !in.proven {
		return in.refuse(psbt.InWitnessUTXO,
			"the input spends no witness output but %s: give PSBT_IN_NON_WITNESS_UTXO", in.kind)
	}
	return in.readSighash(outputs)
}

// Fee returns the fee in satoshi, 0 if inputs are still to be added. It is only as true as the
// amounts are proven.
func (t *transaction) Fee() uint64 { return max(t.totalIn, t.totalOut) - t.totalOut }

// Parse implements chains.Chain: it reads a PSBT and checks everything that depends on no key.
func (c Chain) Parse(raw []byte) (chains.Transaction, error) {
	tx, err := c.parse(raw)
	if err != nil {
		return nil, err
	}
	return tx, nil
}

func (c Chain) parse(raw []byte) (*transaction, error) {
	limits := c.limits.withDefaults()
	if len(raw) > limits.MaxSize {
		return nil, malformed("", -1, "PSBT of %d bytes, at most %d are read: spend fewer inputs at a time, or "+
			"taproot inputs, which need no previous transactions; 'countersign sign' takes up to 32 MiB", len(raw),
			limits.MaxSize)
	}
	packet, err := psbt.Read(raw)
	if err != nil {
		return nil, err
	}
	tx := &transaction{unsignedTx: unsignedTx{packet: packet}, limits: limits, network: limits.Network}
	if err := tx.read(); err != nil {
		return nil, err
	}
	return tx, nil
}

// checkAmounts adds up inputs and outputs, and refuses sums that are impossible.
func (t *transaction) checkAmounts() error {
	for i := range t.inputs {
		in := &t.inputs[i]
		if t.totalIn += in.amount; in.amount > MaxMoney || t.totalIn > MaxMoney {
			return malformed(in.field("amount"), in.Offset, "%d satoshi, in all more than 21 million BTC", in.amount)
		}
	}
	for i := range t.packet.Outputs {
		out := &t.packet.Outputs[i]
		if t.totalOut += out.Amount; out.Amount > MaxMoney || t.totalOut > MaxMoney {
			return malformed(fmt.Sprintf("output %d amount", i), out.Offset,
				"%d satoshi, in all more than 21 million BTC", out.Amount)
		}
	}
	closed := func(in input) bool { return in.final || in.sighash&sighashAnyoneCanPay == 0 }
	if t.totalOut > t.totalIn && slices.ContainsFunc(t.inputs, closed) {
		return malformed("outputs", t.packet.Outputs[0].Offset, "%d satoshi, more than the %d of the inputs; only if "+
			"all ask for SIGHASH_ANYONECANPAY can others add what is missing", t.totalOut, t.totalIn)
	}
	return nil
}

// UsesUp implements chains.Exclusive: an output is spent once.
func (t *transaction) UsesUp(string) []string {
	outputs := make([]string, len(t.packet.Inputs))
	for i := range t.packet.Inputs {
		in := &t.packet.Inputs[i]
		outputs[i] = "output " + wire.OutPoint{Hash: in.PreviousTxID, Index: in.OutputIndex}.String()
	}
	return outputs
}
