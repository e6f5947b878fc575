package bitcoin

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// asset is bitcoin, in satoshi. The bytes of a PSBT name no network.
var asset = chains.Native("bip122")

// Effects implements chains.Transaction: one effect for each output with value, which all inputs
// pay together, so that From is none; and the fee. Without a key, every input that is not final
// counts as signed: an output that one of them does not commit to goes to an unknown party.
func (t *transaction) Effects() []chains.Effect { return t.plan().effects() }

// effects returns the statement of a message, or the effects of outputs and the fee, which is
// unknown if a signature leaves outputs or inputs open, or if an amount is not proven.
func (p *plan) effects() []chains.Effect {
	if m := p.tx.message; m != nil {
		return []chains.Effect{{
			Kind: chains.KindMessage, From: p.tx.network.party(m.script), By: chains.BySigner,
			Function: "BIP-322", Args: m.Args(len(m.String())), Path: messagePath, Domain: m.Domain(),
		}}
	}
	effects := make([]chains.Effect, 0, len(p.outcomes)+1)
	for _, o := range p.outcomes {
		effects = append(effects, p.tx.outputEffect(o))
	}
	fee := chains.Effect{Kind: chains.KindFee, By: chains.BySigner, Asset: asset,
		Amount: chains.ExactlyUint(p.tx.Fee())}
	leavesOpen := func(in *input) bool { return in.sighash > sighashAll }
	if p.unproven != nil || slices.ContainsFunc(p.signed, leavesOpen) {
		fee.Amount = chains.UnknownQuantity()
	}
	return append(effects, fee)
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
		effect.To = t.network.party(out.Script)
	}
	effect.Asset, effect.Amount = asset, chains.ExactlyUint(out.Amount)
	return effect
}

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller: the text of a message, for a reader to know.
func (t *transaction) Calls() []chains.Call {
	if t.message == nil {
		return nil
	}
	return []chains.Call{{Path: messagePath, From: t.network.party(t.message.script), Text: t.message.String()}}
}
