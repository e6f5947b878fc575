package solana

import (
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// effects returns what the transaction does: the fee, and the effects of each
// instruction, at most chains.MaxEffects. They are by the signer or standing, and lie in
// the workspace, which must be empty.
func (t *Transaction) effects(w *workspace) []effect {
	w.effects = append(w.effects, t.feeEffect())
	r := &w.reader
	r.given, r.values, r.roles = w.given[:0], w.values[:0], w.roles[:0]
	for i := range t.instructions {
		t.decodeInstruction(r, i)
		w.effects = r.effects(w.effects)
	}
	effects := t.memos(mintsEnd(w.effects))
	w.effects = effects
	inherit(effects)
	leftBare(effects)
	t.burnt(effects)
	if len(effects) <= chains.MaxEffects {
		return effects
	}
	rest := effect{Effect: chains.Effect{Kind: chains.KindCall, By: chains.BySigner, Undecoded: true, Path: "instructions",
		To: chains.UnknownParty(), Function: "more than " + strconv.Itoa(chains.MaxEffects) + " effects"}}
	return append(effects[:chains.MaxEffects-1], rest)
}

// mintsEnd puts the end of a mint before the transfer of what it frees, if an instruction or
// a list names what is closed as a mint. Unless one names it as an account of a token, the
// bytes do not say which of the two it is.
func mintsEnd(effects []effect) []effect {
	for i := 0; i < len(effects); i++ {
		closed := effects[i]
		switch {
		case !closed.closes:
		case slices.ContainsFunc(effects, func(e effect) bool { return e.mint.Equal(closed.From) }),
			slices.Contains(knownMints, string(closed.From.Address())):
			end := effect{slots: closed.slots, Effect: chains.Effect{By: closed.By, Path: closed.Path, Function: "CloseAccount"}}
			end.ends("mint", closed.From)
			effects = slices.Insert(effects, i, end)
			i++
		case !slices.ContainsFunc(effects, func(e effect) bool { return !e.Asset.IsNone() && !e.Asset.IsNative() && e.From.Equal(closed.From) }):
			effects[i].Function = "closes a token account, or a mint for ever"
		}
	}
	return effects
}

func (t *Transaction) feeEffect() effect {
	return effect{slots: appendSlot(nil, 0), Effect: chains.Effect{
		Kind: chains.KindFee, By: chains.BySigner, From: party(t.key(0)),
		Asset: chains.Native(Name), Amount: chains.AtMostUint(t.fee().total()), Path: "fee",
	}}
}

// inherit makes the funder of an account that the transaction creates its owner:
// an instruction that then names who controls the account gives away what the
// funder put in. Where the funder pays only rent, there is nothing to give away.
func inherit(effects []effect) {
	for i := range effects {
		e := &effects[i]
		if e.owned || e.Kind != chains.KindAuthority && e.Kind != chains.KindStake {
			continue
		}
		for j := range effects[:i] {
			create := &effects[j]
			if create.Kind == chains.KindCreate && create.Amount.Bound == chains.BoundExact && create.To.Equal(e.Account) {
				e.slots, e.owned = create.slots, true
				if e.Kind == chains.KindAuthority {
					e.From = create.From
				}
			}
		}
	}
}
