package bitcoin

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
)

func (*transaction) Chain() string { return Name }

// Summary implements chains.Transaction. Its canonical form has scripts; a person sees
// addresses of the network that is shown.
func (t *transaction) Summary() chains.Summary {
	if t.message != nil {
		return t.summarizeMessage()
	}
	inputs, outputs := make([]chains.Field, len(t.inputs)), make([]chains.Field, len(t.packet.Outputs))
	for i := range t.inputs {
		inputs[i] = t.summarizeInput(&t.inputs[i])
	}
	for i := range t.packet.Outputs {
		outputs[i] = t.summarizeOutput(i)
	}
	size, replaceable := t.VirtualSize(), "not signalled"
	if slices.ContainsFunc(t.inputs, func(in input) bool { return in.Sequence < 0xfffffffe }) {
		replaceable = "yes: signals replacement by a higher fee (BIP-125)"
	}
	rate := t.Fee() * 100 / size // hundredths of a satoshi per virtual byte
	return chains.Summary{Chain: Name, Effects: t.Effects(), Fields: []chains.Field{
		chains.Text("type", fmt.Sprintf("PSBT version %d", t.packet.Version)),
		chains.List("inputs", inputs...),
		chains.List("outputs", outputs...),
		t.provenTotal(amount("total in", t.totalIn)),
		amount("total out", t.totalOut),
		t.fee(),
		chains.Text("fee rate", fmt.Sprintf("%d.%02d sat/vB", rate/100, rate%100)).
			WithNote("estimated for the signed size"),
		{Label: "virtual size", Type: chains.TypeInteger, Value: strconv.FormatUint(size, 10), Symbol: "vB",
			Note: "estimated"},
		t.lockTime(),
		chains.Text("replaceable", replaceable),
		chains.Integer("transaction version", uint64(t.packet.TxVersion)),
	}}
}

// summarizeMessage shows the statement and its author, and of a proof of funds what it
// claims. There is no fee: the transaction can never be sent.
func (t *transaction) summarizeMessage() chains.Summary {
	fields := []chains.Field{
		chains.Text("type", fmt.Sprintf("BIP-322 message in a PSBT version %d", t.packet.Version)),
		chains.Text("message", t.message.String()),
		t.lockedBy(t.message.script),
	}
	if len(t.inputs) > 1 {
		inputs := make([]chains.Field, len(t.inputs)-1)
		for i := range inputs {
			inputs[i] = t.summarizeInput(&t.inputs[i+1])
		}
		fields = append(fields, chains.List("proof of funds", inputs...), t.provenTotal(amount("total", t.totalIn)))
	}
	return chains.Summary{Chain: Name, Effects: t.Effects(), Fields: append(fields,
		t.lockTime(),
		chains.Text("sequence", t.sequence(t.inputs[0].Sequence)),
		chains.Integer("transaction version", uint64(t.packet.TxVersion)),
	)}
}

func (t *transaction) summarizeInput(in *input) chains.Field {
	spent := amount("amount", in.amount).As("value")
	if in.proven {
		spent = spent.WithNote("proven by the transaction that is spent")
	} else {
		spent = spent.WithNote("claimed, not proven")
	}
	fields := []chains.Field{
		chains.Text("outpoint", fmt.Sprintf("%s:%d", chainhash.Hash(in.PreviousTxID), in.OutputIndex)),
		spent,
		chains.Text("script type", in.kind.String()),
		t.lockedBy(in.script),
		chains.Text("sighash", sighashName(in.sighash)),
		chains.Text("sequence", t.sequence(in.Sequence)),
	}
	if script, ok := in.policy(); ok {
		fields = append(fields, script)
	}
	return chains.List(fmt.Sprintf("input %d", in.index), append(fields, chains.Text("signatures", in.signatures()))...)
}

func (t *transaction) summarizeOutput(index int) chains.Field {
	out := &t.packet.Outputs[index]
	fields := []chains.Field{amount("amount", out.Amount).As("value"), t.lockedBy(out.Script)}
	if txscript.IsNullData(out.Script) || len(out.Script) > 0 && out.Script[0] == txscript.OP_RETURN {
		fields = append(fields[:1], t.lockedBy(out.Script).WithNote("OP_RETURN: cannot be spent"))
		if data, whole := returnedData(out.Script); whole && len(data) > 0 && utf8.Valid(data) {
			fields = append(fields, chains.Text("text", string(data)))
		}
	}
	return chains.List(fmt.Sprintf("output %d", index), fields...)
}

// lockedBy returns the field of an output script, shown as its address if it has one.
func (t *transaction) lockedBy(script []byte) chains.Field {
	if text, ok := AddressOf(script, t.network); ok {
		return chains.AddressField("address", hex.EncodeToString(script)).ShownAs(text)
	}
	return chains.Bytes("script", script)
}

// policy returns who must sign, where a script says it.
func (in *input) policy() (field chains.Field, ok bool) {
	const label = "script"
	if in.code == nil {
		return chains.Text(label, "not given"), true
	}
	if n, m, err := txscript.CalcMultiSigStats(in.code); err == nil {
		return chains.Text(label, fmt.Sprintf("%d of %d keys", m, n)), true
	}
	switch {
	case in.kind == p2wsh || in.kind == p2shP2wsh || in.kind == p2sh:
		return chains.Bytes(label, in.code), true
	case in.kind == p2tr && len(in.taproot.leaves) > 0:
		return chains.Text(label, fmt.Sprintf("script tree, %d leaves given", len(in.taproot.leaves))), true
	}
	return field, false
}

func (in *input) signatures() string {
	if in.final {
		return "final"
	}
	count, others := 0, ""
	for _, record := range in.Records {
		sighash := byte(sighashDefault)
		switch record.Type {
		case psbt.InPartialSig:
			sighash = record.Value[len(record.Value)-1]
		case psbt.InTapKeySig, psbt.InTapScriptSig:
			if len(record.Value) == 65 {
				sighash = record.Value[64]
			}
		default:
			continue
		}
		if count++; sighash != in.sighash {
			others = ", with " + sighashName(sighash)
		}
	}
	if count == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, verified%s", count, others)
}

func (t *transaction) sequence(sequence uint32) string {
	const disabled, seconds, mask = 1 << 31, 1 << 22, 0xffff
	text := fmt.Sprintf("%08x", sequence)
	switch {
	case sequence&disabled != 0 || t.packet.TxVersion < 2 || sequence&mask == 0:
		return text
	case sequence&seconds != 0:
		return fmt.Sprintf("%s: not before %d seconds after what it spends", text, (sequence&mask)*512)
	}
	return fmt.Sprintf("%s: not before %d blocks after what it spends", text, sequence&mask)
}

// lockTime says when the transaction becomes valid. The locktime counts only if an
// input has a sequence below the highest.
func (t *transaction) lockTime() chains.Field {
	const threshold, final = 500_000_000, 0xffffffff
	field := chains.Integer("locktime", uint64(t.packet.LockTime))
	switch {
	case t.packet.LockTime == 0:
		return field.WithNote("none")
	case !slices.ContainsFunc(t.inputs, func(in input) bool { return in.Sequence != final }):
		return field.WithNote("without effect: every input is final")
	case t.packet.LockTime < threshold:
		return field.WithNote("not before this block")
	}
	return chains.Time("locktime", time.Unix(int64(t.packet.LockTime), 0)).WithNote("not before this time")
}

// fee returns the field of the fee. Of a sale whose buyer adds inputs, what is missing is noted.
func (t *transaction) fee() chains.Field {
	if missing := t.totalOut - min(t.totalIn, t.totalOut); missing > 0 {
		return amount("fee", 0).WithNote("not known yet: others have to add inputs of more than " + btc(missing))
	}
	return t.provenTotal(amount("fee", t.Fee()))
}

// provenTotal adds a note to a sum if a part of it is not proven.
func (t *transaction) provenTotal(sum chains.Field) chains.Field {
	if slices.ContainsFunc(t.inputs, func(in input) bool { return !in.proven }) {
		return sum.WithNote("as far as the claimed amounts are true")
	}
	return sum
}

// MaxMoney is the largest number of satoshi that can exist.
const MaxMoney = 21_000_000 * 100_000_000

const (
	decimals = 8
	symbol   = "BTC"
)

func amount(label string, satoshi uint64) chains.Field {
	return chains.AmountUint(label, satoshi, decimals, symbol)
}

func btc(satoshi uint64) string {
	return chains.Decimal(fmt.Sprint(satoshi), decimals) + " " + symbol
}
