package bitcoin

import (
	"encoding/hex"
	"iter"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// asset is bitcoin, in satoshi. The bytes of a PSBT name no network.
var asset = chains.Native("bip122")

// Effects implements chains.Transaction: one effect for each output with value, which
// all inputs pay together, so that From is none; and the fee. Without a key, every
// input that is not final counts as signed: an output that one of them does not commit
// to goes to an unknown party.
func (t *transaction) Effects() []chains.Effect { return t.effects(t.openInputs()) }

// effects returns what signatures of some inputs do.
func (t *transaction) effects(signed []*input) []chains.Effect {
	if t.message != nil {
		return []chains.Effect{t.message.effect(t)}
	}
	effects := make([]chains.Effect, 0, min(len(t.packet.Outputs)+1, chains.MaxEffects))
	for _, o := range t.outcomes(signed) {
		effects = append(effects, t.outputEffect(o))
	}
	return append(effects, t.feeEffect(signed))
}

// outcome is what becomes of an output.
type outcome struct {
	output int
	fate   fate
	why    string // why the output is burned, or spendable by anyone; of an instruction the protocol
}

// path returns where the output stands in the summary.
func (o outcome) path() string { return "outputs/" + strconv.Itoa(o.output) }

// outcomes yields the outcomes of all outputs that have an effect, by the index of
// that effect. An output that instructs a protocol and has value has two. If there are
// more than an effect can be given for, the last outcome is unaccounted.
func (t *transaction) outcomes(signed []*input) iter.Seq2[int, outcome] {
	return func(yield func(int, outcome) bool) {
		effect := 0
		var room [2]outcome
		for i := range t.packet.Outputs {
			for _, o := range t.appendOutcomes(room[:0], i, signed) {
				if effect == chains.MaxEffects-2 {
					yield(effect, outcome{i, unaccounted, ""})
					return
				}
				if !yield(effect, o) {
					return
				}
				effect++
			}
		}
	}
}

// appendOutcomes appends the outcomes of one output.
func (t *transaction) appendOutcomes(list []outcome, index int, signed []*input) []outcome {
	out := &t.packet.Outputs[index]
	if protocol := t.overlay(out.Script); protocol != "" {
		list = append(list, outcome{index, instructs, protocol})
	}
	switch {
	case leavesOpen(signed, index):
		if len(list) > 0 && out.Amount == 0 {
			return list // the instruction is all there is
		}
		return append(list, outcome{index, uncommitted, ""})
	case out.Amount == 0:
		return list
	}
	fate, why := fateOf(out)
	return append(list, outcome{index, fate, why})
}

func (t *transaction) outputEffect(o outcome) chains.Effect {
	out := &t.packet.Outputs[o.output]
	effect := chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, Path: o.path()}
	switch o.fate {
	case unaccounted, instructs:
		effect.Kind, effect.Undecoded, effect.Function = chains.KindCall, true, o.why
		return effect
	case uncommitted:
		effect.To, effect.Asset, effect.Amount = chains.UnknownParty(), asset, chains.UnknownQuantity()
		return effect
	case burned, upForGrabs:
		effect.Kind = chains.KindBurn
	}
	if o.fate != burned {
		effect.To = t.party(out.Script)
	}
	effect.Asset, effect.Amount = asset, chains.ExactlyUint(out.Amount)
	return effect
}

// feeEffect returns the fee: unknown if a signature leaves outputs or inputs open, or
// if an amount is not proven.
func (t *transaction) feeEffect(signed []*input) chains.Effect {
	fee := chains.Effect{Kind: chains.KindFee, By: chains.BySigner, Asset: asset, Amount: chains.ExactlyUint(t.Fee())}
	_, unproven := t.unproven(signed)
	for _, in := range signed {
		unproven = unproven || in.sighash > sighashAll
	}
	if unproven {
		fee.Amount = chains.UnknownQuantity()
	}
	return fee
}

// effect returns the statement that a message makes.
func (m *message) effect(t *transaction) chains.Effect {
	return chains.Effect{
		Kind: chains.KindMessage, From: t.party(m.script), By: chains.BySigner,
		Function: "BIP-322", Args: m.Args(len(m.String())), Path: messagePath, Domain: m.Domain(),
	}
}

// party returns the owner of an output script. Its canonical text is the script; a
// person sees the address on the network that is shown.
func (t *transaction) party(script []byte) chains.Party {
	return chains.PartyAt(script, notations[t.network])
}

// notations are the notations of scripts on each network.
var notations = [...]*chains.Notation{
	Mainnet: notationOf(Mainnet), Testnet: notationOf(Testnet), Signet: notationOf(Signet), Regtest: notationOf(Regtest),
}

func notationOf(network Network) *chains.Notation {
	return &chains.Notation{Text: hex.EncodeToString, Shown: func(script []byte) string {
		text, _ := addressOf(script, network)
		return text
	}}
}

// openInputs returns the inputs that are not final. Without a key, all of them count as
// signed.
func (t *transaction) openInputs() []*input {
	inputs := make([]*input, 0, len(t.inputs))
	for i := range t.inputs {
		if !t.inputs[i].final {
			inputs = append(inputs, &t.inputs[i])
		}
	}
	return inputs
}

// inputs returns the inputs that this request signs. One with several signatures is
// repeated.
func (s *signing) inputs() []*input {
	inputs := make([]*input, len(s.tasks))
	for i := range s.tasks {
		inputs[i] = s.tasks[i].in
	}
	return inputs
}

// leavesOpen reports whether a signature of one of the inputs does not commit
// to an output.
func leavesOpen(signed []*input, output int) bool {
	for _, in := range signed {
		switch in.sighash & sighashOutputs {
		case sighashNone:
			return true
		case sighashSingle:
			if in.index != output {
				return true
			}
		}
	}
	return false
}
