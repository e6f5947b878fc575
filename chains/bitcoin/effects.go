package bitcoin

import (
	"bytes"
	"fmt"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
)

// asset is satoshi. The bytes of a PSBT name no network.
var asset = chains.Native("bip122")

// Effects implements chains.Transaction: one effect for each output with value,
// paid by all inputs together, so that From is none; and the fee. Without a key
// every input that is not final counts as signed: an output that one of them
// does not commit to goes to an unknown party.
func (t *transaction) Effects() []chains.Effect { return t.effects(t.openInputs()) }

// Effects implements chains.Signing: as the transaction's, with the outputs that
// the keys' own signatures commit to, and those marked that come back to them.
func (s *signing) Effects() []chains.Effect {
	effects := s.tx.effects(s.inputs())
	for i := range effects {
		effects[i].Change = effects[i].Kind == chains.KindTransfer && s.paysUs(effects[i].To.Address())
	}
	return effects
}

// accounted is an effect, and why it is a hazard if it is one.
type accounted struct {
	chains.Effect
	why string
}

// effects are what signatures of some inputs do.
func (t *transaction) effects(signed []*input) []chains.Effect {
	all := t.account(signed)
	effects := make([]chains.Effect, len(all))
	for i := range all {
		effects[i] = all[i].Effect
	}
	return effects
}

func (t *transaction) account(signed []*input) []accounted {
	if t.message != nil {
		return []accounted{{Effect: t.message.effect(t)}}
	}
	effects := make([]accounted, 0, min(len(t.packet.Outputs)+1, chains.MaxEffects))
	for i := range t.packet.Outputs {
		effect, ok := t.outputEffect(i, signed)
		if !ok {
			continue
		}
		if len(effects) == chains.MaxEffects-2 {
			effects = append(effects, accounted{chains.Effect{
				Kind: chains.KindCall, By: chains.BySigner, Undecoded: true, Path: effect.Path,
			}, fmt.Sprintf("this output and those behind it are more than the %d that are accounted for", chains.MaxEffects)})
			break
		}
		effects = append(effects, effect)
	}
	return append(effects, accounted{Effect: t.feeEffect(signed)})
}

// outputEffect is what an output does; not ok if nothing: it has no value, and
// no data that a known protocol acts on.
func (t *transaction) outputEffect(index int, signed []*input) (effect accounted, ok bool) {
	out := &t.packet.Outputs[index]
	effect.Effect = chains.Effect{
		Kind: chains.KindTransfer, By: chains.BySigner, Asset: asset, Amount: chains.ExactlyUint(out.Amount),
		Path: fmt.Sprintf("outputs/%d", index),
	}
	open := leavesOpen(signed, index)
	fate, why := fateOf(out.Script)
	switch protocol := overlayProtocol(out.Script); {
	case protocol != "":
		effect.Kind, effect.Undecoded, effect.Function = chains.KindCall, true, protocol
		effect.Asset, effect.Amount = chains.Asset{}, chains.Quantity{}
		effect.why = "it instructs " + protocol + ": which tokens it moves is not known"
	case open:
		effect.To, effect.Amount = chains.UnknownParty(), chains.UnknownQuantity()
	case out.Amount == 0:
		return effect, false
	case fate == burned:
		effect.Kind, effect.why = chains.KindBurn, why
	case fate == upForGrabs:
		effect.Kind, effect.To, effect.why = chains.KindBurn, t.party(out.Script), why
	default:
		effect.To = t.party(out.Script)
	}
	return effect, true
}

// feeEffect is the fee: unknown if a signature leaves outputs or inputs open, or
// if an amount may be a lie.
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

// effect is the statement that a message makes.
func (m *message) effect(t *transaction) chains.Effect {
	return chains.Effect{
		Kind: chains.KindMessage, From: t.party(m.script), By: chains.BySigner,
		Function: "BIP-322", Args: []chains.Arg{{Name: "message", Value: m.text}}, Path: "message",
	}
}

// party is who can spend an output with this script. Its canonical text is the
// script; a person sees the address, of the network that is shown.
func (t *transaction) party(script []byte) chains.Party {
	return chains.PartyAt(script, notations[t.network])
}

// notations write scripts for each network.
var notations = [...]*chains.Notation{
	Mainnet: notationOf(Mainnet), Testnet: notationOf(Testnet), Signet: notationOf(Signet), Regtest: notationOf(Regtest),
}

func notationOf(network Network) *chains.Notation {
	return &chains.Notation{Text: hexString, Shown: func(script []byte) string {
		text, _ := addressOf(script, network)
		return text
	}}
}

// openInputs are the inputs that are not final: without a key, all of them
// count as signed by us.
func (t *transaction) openInputs() []*input {
	inputs := make([]*input, 0, len(t.inputs))
	for i := range t.inputs {
		if !t.inputs[i].final {
			inputs = append(inputs, &t.inputs[i])
		}
	}
	return inputs
}

// inputs are those that this request signs, one of them perhaps several times.
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

// overlayProtocol names the protocol of tokens whose instructions an output has,
// as far as it is known by its mark: what they do to tokens in the inputs is not
// decoded.
func overlayProtocol(script []byte) string {
	switch {
	case bytes.HasPrefix(script, []byte{txscript.OP_RETURN, txscript.OP_13}):
		return "runestone"
	case len(script) > 6 && script[0] == txscript.OP_RETURN && bytes.HasPrefix(script[2:], []byte("omni")):
		return "omni"
	}
	return ""
}
