package solana

import (
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
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

// effect is an effect together with what decides who authorizes it and how dangerous it is.
type effect struct {
	chains.Effect

	// slots are the signers any of whose signatures authorizes the effect. None if
	// no signature does, or if it is not known which one.
	slots []int

	// owned is set if the instruction needs a signature of the owner of what it
	// changes. An effect that is not owned takes control of nothing.
	owned bool

	// lost is what the recipient of a burn is; empty if the tokens are destroyed.
	lost string
	text *texts.Text // of a KindMessage

	// danger names a hazard in addition to those that follow from the kind.
	danger, detail string

	// bare is set of a KindCreate after which anyone may initialize the account, and rich
	// if the account gets more than its rent.
	bare, rich bool

	// alone is set if what the effect takes out of From needs the signature of From itself,
	// which is no wallet: the program has not been told who controls the account.
	alone bool

	// initialized is the account that the effect's instruction initializes, if any. If it
	// follows, its authorities are those of another account, which the bytes do not name.
	initialized chains.Party
	follows     bool

	owner  chains.Party // of the account that is created, if the instruction names it
	mint   chains.Party // that the effect's instruction names, if any
	closes bool         // From is closed, which may be an account or a mint of Token-2022
}

// byOther reports whether none of the slots' signatures authorizes an effect that
// a signature authorizes.
func (e *effect) byOther(slots []int) bool {
	return e.By == chains.BySigner && len(e.slots) > 0 &&
		!slices.ContainsFunc(e.slots, func(slot int) bool { return slices.Contains(slots, slot) })
}

// names reports whether the effect's instruction says who controls an account.
func (e *effect) names(effects []effect, account chains.Party) bool {
	return slices.ContainsFunc(effects, func(of effect) bool {
		return of.Path == e.Path && (of.Kind == chains.KindAuthority || of.Kind == chains.KindStake) &&
			of.Account.Equal(account)
	})
}

// takesOver reports whether an effect makes an account a passage: it creates or initializes it,
// gives it to another owner, closes it, or takes from it by the account's own signature, as the
// programs allow before it is initialized.
func (e *effect) takesOver(account chains.Party) bool {
	switch {
	case e.initialized.Equal(account), e.Kind == chains.KindCreate && e.To.Equal(account):
		return true
	case e.Kind == chains.KindAuthority || e.Kind == chains.KindStake:
		return e.Account.Equal(account)
	}
	return e.From.Equal(account) && (e.alone || e.Asset.IsNative() && e.Amount.Bound == chains.BoundAll)
}

// appendOwners appends the party to which an effect gives control of an account.
func (e *effect) appendOwners(owners chains.Parties, account chains.Party) chains.Parties {
	switch {
	case (e.Kind == chains.KindAuthority || e.Kind == chains.KindStake) && e.Account.Equal(account) && !e.To.IsNone():
		owners = append(owners, e.To)
	case e.Kind == chains.KindCreate && e.To.Equal(account) && !e.owner.IsNone():
		owners = append(owners, e.owner)
	}
	return owners
}

// ends says that an account ends for ever, which is a program or a mint.
func (e *effect) ends(what string, account chains.Party) {
	e.Kind, e.Account, e.Args = chains.KindBurn, account, []chains.Arg{{Name: what, Value: account.String()}}
	e.danger, e.detail = HazardBurn, what+" "+partyText(account)+" ends for ever, and what depends on it is lost"
}

func addSlot(slots []int, given account) []int {
	if given.signer && given.slot >= 0 {
		return appendSlot(slots, given.slot)
	}
	return slots
}

// appendSlot is append, without an allocation for the first slot.
func appendSlot(slots []int, slot int) []int {
	if len(slots) == 0 {
		return slotNumbers[slot : slot+1 : slot+1] // without room for another
	}
	return append(slots, slot)
}

// slotNumbers are the slots that a header, which counts in a byte, can ask for. They are
// never changed.
var slotNumbers = func() (slots [1 << 8]int) {
	for i := range slots {
		slots[i] = i
	}
	return slots
}()

// findPassages tells of each account that gets something whether it is a passage, and whose it is in
// the end.
func findPassages(effects []effect) {
	if len(effects) < 2 { // the fee
		return
	}
	for i := range effects {
		e := &effects[i]
		if e.To.Address() == nil || e.Amount.IsNone() {
			continue
		}
		e.Owners = nil
		for j := range effects {
			other := &effects[j]
			e.Passage = e.Passage || other.takesOver(e.To)
			e.Owners = other.appendOwners(e.Owners, e.To)
		}
	}
}
