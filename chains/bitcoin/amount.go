package bitcoin

import (
	"bytes"
	"fmt"

	"github.com/countersign-dev/countersign/internal/psbt"
)

const (
	fieldNonWitnessUTXO = "PSBT_IN_NON_WITNESS_UTXO"
	fieldWitnessUTXO    = "PSBT_IN_WITNESS_UTXO"
)

// readUTXO finds the amount and the script of the output that is spent.
//
// PSBT_IN_NON_WITNESS_UTXO is the whole transaction, whose id is that of the outpoint:
// it proves the amount. PSBT_IN_WITNESS_UTXO is only a claim.
func (in *input) readUTXO() error {
	witness := in.Find(psbt.InWitnessUTXO)
	if in.Previous == nil {
		if witness == nil {
			return malformed(in.field(fieldWitnessUTXO), in.End,
				"missing, and %s too: without the output that is spent neither amount nor script is known", fieldNonWitnessUTXO)
		}
		var err error
		in.amount, in.script, err = psbt.ReadTxOut(witness.Value)
		return err
	}
	if id := in.Previous.ID(); id != in.PreviousTxID {
		return in.refuse(fieldNonWitnessUTXO, psbt.InNonWitnessUTXO,
			"transaction %s, but the input spends an output of %s", displayID(id), displayID(in.PreviousTxID))
	}
	var err error
	if in.amount, in.script, err = in.Previous.Output(in.OutputIndex); err != nil {
		return in.refuse(fieldNonWitnessUTXO, psbt.InNonWitnessUTXO, "%s", err)
	}
	in.proven = true
	return in.compareUTXOs(witness)
}

// compareUTXOs refuses an input whose two descriptions of the output differ.
func (in *input) compareUTXOs(witness *psbt.Record) error {
	if witness == nil {
		return nil
	}
	amount, script, err := psbt.ReadTxOut(witness.Value)
	if err != nil {
		return err
	}
	if amount != in.amount {
		return in.refuse(fieldWitnessUTXO, psbt.InWitnessUTXO,
			"amount %d, but the spent transaction has %d", amount, in.amount)
	}
	if !bytes.Equal(script, in.script) {
		return in.refuse(fieldWitnessUTXO, psbt.InWitnessUTXO,
			"script %x, but the spent transaction has %x", script, in.script)
	}
	return nil
}

// checkProof refuses a legacy input without the transaction that it spends: its
// signature commits to no amount at all. Some wallets write PSBT_IN_WITNESS_UTXO as
// well, which was checked to agree.
func (in *input) checkProof() error {
	if in.kind.family() == legacy && !in.proven {
		return in.refuse(fieldWitnessUTXO, psbt.InWitnessUTXO,
			"the input spends no witness output but %s: give %s", in.kind, fieldNonWitnessUTXO)
	}
	return nil
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
	if t.totalOut > t.totalIn {
		return malformed("outputs", t.packet.Outputs[0].Offset,
			"%d satoshi, more than the %d of the inputs", t.totalOut, t.totalIn)
	}
	return nil
}

// displayID returns a transaction id as explorers and nodes print it: reversed, in hex.
func displayID(id [32]byte) string {
	for i, j := 0, len(id)-1; i < j; i, j = i+1, j-1 {
		id[i], id[j] = id[j], id[i]
	}
	return fmt.Sprintf("%x", id)
}
