package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
)

// MaxMoney is the largest number of satoshi that can exist.
const MaxMoney = 21_000_000 * 100_000_000

// transaction is a PSBT that was read and checked: a view over its bytes.
type transaction struct {
	packet   *psbt.Packet
	limits   Limits
	network  Network // of the addresses shown
	inputs   []input
	totalIn  uint64 // satoshi
	totalOut uint64
	message  *message // a BIP-322 message; nil if it is a transaction
	unsigned []byte   // the unsigned transaction in the network's encoding

	// Computed on first use.
	tx     *wire.MsgTx           // the same for txscript
	spent  *spentOutputs         // what its inputs spend
	hashes *txscript.TxSigHashes // midstates of BIP-341
	segwit *segwitHashes         // midstates of BIP-143
	prefix prefixHash            // of legacy digests

	keyStream []byte // see counterpartyKey
}

var _ chains.Transaction = (*transaction)(nil)

// input is one input with what it spends.
type input struct {
	*psbt.Input
	index  int
	amount uint64 // satoshi
	script []byte // of the output that is spent
	proven bool   // PSBT_IN_NON_WITNESS_UTXO is the transaction that is spent

	kind     scriptType
	code     []byte // the script that is run: redeem or witness script, or script itself; nil if not known
	sighash  byte   // of PSBT_IN_SIGHASH_TYPE, or else the default of the kind
	declared bool   // the input has PSBT_IN_SIGHASH_TYPE
	final    bool
	taproot  *taproot // of a P2TR input
	filledIn []byte   // the redeem script, where the PSBT lacks it and it follows from the key

	digests []ecdsaDigest
}

// field returns the name of a field of the input, for errors.
func (in *input) field(name string) string { return fmt.Sprintf("input %d %s", in.index, name) }

// refuse returns an error about a field of the input that is in its map.
func (in *input) refuse(name string, keyType uint64, format string, args ...any) error {
	offset := in.Offset
	if record := in.Find(keyType); record != nil {
		offset = record.ValueOffset()
	}
	return malformed(in.field(name), offset, format, args...)
}

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
	if err := t.readMessage(); err != nil {
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
	t.unsigned = t.packet.Unsigned()
	if size := len(t.unsigned); size > t.limits.MaxUnsignedSize {
		return malformed("transaction", -1, "%d bytes unsigned, at most %d are signed", size, t.limits.MaxUnsignedSize)
	}
	for i := range t.packet.Inputs {
		if in := &t.packet.Inputs[i]; in.PreviousTxID == [32]byte{} {
			return malformed(fmt.Sprintf("input %d", i), in.Offset, "spends an output of transaction 0…0, which only a coinbase names")
		}
	}
	return t.checkDuplicates()
}

func (t *transaction) checkDuplicates() error {
	if len(t.packet.Inputs) == 1 {
		return nil
	}
	seen := make(map[wire.OutPoint]int, len(t.packet.Inputs))
	for i := range t.packet.Inputs {
		in := &t.packet.Inputs[i]
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
	if err := in.readUTXO(); err != nil {
		return err
	}
	in.final = in.Find(psbt.InFinalScriptSig) != nil || in.Find(psbt.InFinalScriptWitness) != nil
	if err := in.readScripts(); err != nil {
		return err
	}
	if err := in.checkProof(); err != nil {
		return err
	}
	return in.readSighash(outputs)
}

// Fee returns the fee in satoshi. It is only as true as the amounts are proven.
func (t *transaction) Fee() uint64 { return t.totalIn - t.totalOut }
