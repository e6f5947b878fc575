package solana

import (
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// effects returns what the transaction does: the fee, and the effects of each
// instruction, at most chains.MaxEffects. They are by the signer or standing, and lie in
// the workspace, which must be empty.
func (t *accountTable) effects(w *workspace) []effect {
	w.effects = append(w.effects, effect{slots: appendSlot(nil, 0), Effect: chains.Effect{
		Kind: chains.KindFee, By: chains.BySigner, From: party(t.key(0)),
		Asset: chains.Native(Name), Amount: chains.AtMostUint(t.fee().total()), Path: "fee",
	}})
	r := &w.reader
	r.given, r.values, r.roles = w.given[:0], w.values[:0], w.roles[:0]
	for i := range t.instructions {
		t.decodeInstruction(r, i)
		w.effects = r.effects(w.effects)
	}
	effects := t.addMemos(endMints(w.effects))
	w.effects = effects
	inheritOwners(effects)
	findBareAccounts(effects)
	t.findBurns(effects)
	if len(effects) <= chains.MaxEffects {
		return effects
	}
	rest := chains.Effect{Kind: chains.KindCall, By: chains.BySigner, Undecoded: true, Path: "instructions",
		To: chains.UnknownParty(), Function: "more than " + strconv.Itoa(chains.MaxEffects) + " effects"}
	return append(effects[:chains.MaxEffects-1], effect{Effect: rest})
}

// endMints puts the end of a mint before the transfer of what it frees, if an instruction or
// a list names what is closed as a mint. Unless one names it as an account of a token, the
// bytes do not say which of the two it is.
func endMints(effects []effect) []effect {
	for i := 0; i < len(effects); i++ {
		closed := effects[i]
		switch {
		case !closed.closes:
		case slices.ContainsFunc(effects, func(e effect) bool { return e.mint.Equal(closed.From) }),
			slices.Contains(knownMints, string(closed.From.Address())):
			end := effect{slots: closed.slots,
				Effect: chains.Effect{By: closed.By, Path: closed.Path, Function: "CloseAccount"}}
			end.ends("mint", closed.From)
			effects = slices.Insert(effects, i, end)
			i++
		case !slices.ContainsFunc(effects,
			func(e effect) bool { return !e.Asset.IsNone() && !e.Asset.IsNative() && e.From.Equal(closed.From) }):
			effects[i].Function = "closes a token account, or a mint for ever"
		}
	}
	return effects
}

// inheritOwners makes the funder of an account that the transaction creates its owner:
// an instruction that then names who controls the account gives away what the
// funder put in. Where the funder pays only rent, there is nothing to give away.
func inheritOwners(effects []effect) {
	for i := range effects {
		e := &effects[i]
		if e.owned || e.Kind != chains.KindAuthority && e.Kind != chains.KindStake {
			continue
		}
		for j := range effects[:i] {
			create := &effects[j]
			if create.Kind == chains.KindCreate && create.Amount.Bound == chains.BoundExact &&
				create.To.Equal(e.Account) {
				e.slots, e.owned = create.slots, true
				if e.Kind == chains.KindAuthority {
					e.From = create.From
				}
			}
		}
	}
}

// findBareAccounts names the danger of new accounts that no later instruction initializes, or that
// one initializes for a party that it does not name.
func findBareAccounts(effects []effect) {
	for i := range effects {
		e := &effects[i]
		if !e.bare {
			continue
		}
		later := slices.IndexFunc(effects[i:], func(later effect) bool { return later.initialized.Equal(e.To) })
		if later < 0 {
			e.danger = HazardAuthorityChange
			e.detail = "no instruction initializes the new account " + partyText(e.To) +
				": anyone can, and then has it and its SOL"
		} else if by := &effects[i+later]; e.rich &&
			(by.follows || !by.names(effects[i:], e.To) && !slices.Equal(by.slots, e.slots)) {
			e.danger = HazardAuthorityChange
			e.detail = "the instruction that initializes the new account " + partyText(e.To) +
				" does not say who then has it and its SOL, which is more than the rent"
		}
	}
}
