package solana

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
)

// effect is an effect together with what decides who authorizes it and how
// dangerous it is.
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
