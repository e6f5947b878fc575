package bitcoin

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// plan is what signatures of some inputs do. It is computed once, and effects, hazards and the
// signer's view are read from it.
type plan struct {
	tx       *transaction
	signed   []*input       // the inputs that are signed, each once, by number
	open     []bool         // by output: whether a signature does not commit to it; nil if all commit to all
	unproven *chains.Hazard // of an amount that a signature does not commit to; nil if there is none
	outcomes []outcome      // of the outputs that have an effect, by the index of the effect
	marks    marks
}

// outcome is what becomes of an output.
type outcome struct {
	output int
	fate   fate
	why    string // why the output is burned, or spendable by anyone; of an instruction the protocol
}

func (o outcome) path() string { return "outputs/" + strconv.Itoa(o.output) }

// of plans signatures of some inputs. A message does nothing.
func (p *plan) of(t *transaction, signed []*input) *plan {
	p.tx, p.signed, p.marks.first = t, signed, t.packet.Inputs[0].PreviousTxID
	if t.message == nil {
		p.open = leftOpen(signed, len(t.packet.Outputs))
		p.unproven = t.unproven(signed)
		p.outcomes = p.findOutcomes()
	}
	return p
}

// plan returns the plan without a key: it counts every input that is not final as signed.
func (t *transaction) plan() *plan {
	inputs := make([]*input, 0, len(t.inputs))
	for i := range t.inputs {
		if !t.inputs[i].final {
			inputs = append(inputs, &t.inputs[i])
		}
	}
	return new(plan).of(t, inputs)
}

// leftOpen returns which outputs a signature of one of the inputs does not commit to.
func leftOpen(signed []*input, outputs int) (open []bool) {
	for _, in := range signed {
		only := in.sighash & sighashOutputs
		if only != sighashNone && only != sighashSingle {
			continue
		}
		if open == nil {
			open = make([]bool, outputs)
		}
		for i := range open {
			open[i] = open[i] || only == sighashNone || i != in.index
		}
	}
	return open
}

func (p *plan) leavesOpen(output int) bool { return p.open != nil && p.open[output] }

// findOutcomes returns the outcomes of all outputs that have an effect. An output that instructs a
// protocol and has value has two. If there are more than an effect can be given for, the last
// outcome is unaccounted.
func (p *plan) findOutcomes() []outcome {
	outputs := p.tx.packet.Outputs
	all := make([]outcome, 0, min(len(outputs), chains.MaxEffects))
	for i := range outputs {
		out, protocol := &outputs[i], p.marks.protocol(outputs[i].Script)
		if protocol != "" {
			all = append(all, outcome{i, instructs, protocol})
		}
		switch open := p.leavesOpen(i); {
		case out.Amount == 0 && (!open || protocol != ""): // an instruction is all there is
		case open:
			all = append(all, outcome{i, uncommitted, ""})
		default:
			fate, why := fateOf(out)
			all = append(all, outcome{i, fate, why})
		}
		if len(all) > chains.MaxEffects-2 {
			last := all[chains.MaxEffects-2].output
			return append(all[:chains.MaxEffects-2], outcome{last, unaccounted, ""})
		}
	}
	return all
}

// unproven finds an amount that nothing proves and that some signature of this request
// does not commit to. Without this hazard, a signature is valid only if everything that
// the PSBT claims is true.
//
// It is not enough that one of the signatures commits to it, be it BIP-341's, nor that another input
// claims to be the same key's: a signature that commits to less stays valid whatever the PSBT says,
// and two PSBTs that each lie about one input yield together what neither of them
// showed (CVE-2020-14199).
func (t *transaction) unproven(signed []*input) *chains.Hazard {
	for i := range t.inputs {
		in := &t.inputs[i]
		if in.proven {
			continue
		}
		if free := slices.IndexFunc(signed, func(other *input) bool { return !other.commitsTo(in) }); free >= 0 {
			return &chains.Hazard{Name: HazardUnprovenAmount, Detail: fmt.Sprintf(
				"input %d (%s): its amount of %s is claimed by PSBT_IN_WITNESS_UTXO alone, and the signature of "+
					"input %d (%s) is valid "+
					"whatever it is, so that the fee may be higher than it looks: add the transaction that is spent "+
					"as PSBT_IN_NON_WITNESS_UTXO",
				in.index, in.kind, btc(in.amount), signed[free].index, signed[free].kind,
			)}
		}
	}
	return nil
}
