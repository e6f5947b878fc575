package solana

import (
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// Effects implements chains.Transaction. Parties are accounts: those of a token
// transfer are the token accounts, since the bytes do not name their owners. An
// effect is by the signer unless a signature that is already there authorizes it.
func (t *Transaction) Effects() []chains.Effect { return t.effectsFor(t.missingSlots()) }

// effectsFor returns the effects for the signers of some slots. An effect that another
// signer authorizes is by that one.
func (t *Transaction) effectsFor(slots []int) []chains.Effect {
	w := workspaces.Get().(*workspace)
	defer w.release()
	return t.resolved(t.effects(w), slots)
}

// resolved returns effects with who authorizes each, and with what becomes of the recipients.
func (t *Transaction) resolved(effects []effect, slots []int) []chains.Effect {
	settled(effects)
	list := make([]chains.Effect, len(effects))
	for i := range effects {
		list[i] = effects[i].Effect
		if effects[i].byOther(slots) {
			list[i].By, list[i].OtherSigner = chains.ByOther, party(t.key(effects[i].slots[0]))
		}
		list[i].Change = t.unwraps(&list[i], slots)
	}
	return list
}

// unwraps reports whether an effect brings SOL home from the account that a signer has
// for wrapped SOL. It is the only transfer between two addresses that is change: the
// recipient is the signer itself, so that nothing is spent, no matter who owns the account. In
// the other direction the owner matters, and an associated account can have been given
// to another one: what goes there is a transfer to an account of the signer's.
func (t *Transaction) unwraps(e *chains.Effect, slots []int) bool {
	if e.Kind != chains.KindTransfer || !e.Asset.IsNative() || e.From.Equal(e.To) {
		return false
	}
	return slices.ContainsFunc(slots, func(slot int) bool {
		key := t.key(slot)
		return e.To.Is(key) && tokenaccount.HoldsSOL(e.From.Address(), key)
	})
}

// byOther reports whether none of the slots' signatures authorizes an effect that
// a signature authorizes.
func (e *effect) byOther(slots []int) bool {
	return e.By == chains.BySigner && len(e.slots) > 0 && !slices.ContainsFunc(e.slots, func(slot int) bool { return slices.Contains(slots, slot) })
}

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
