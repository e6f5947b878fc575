package solana

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// view is what a transaction does as the signers of some slots see it: what the signature of
// another slot authorizes is not theirs. It has its effects from the workspace that they lie in.
type view struct {
	*Transaction

	effects []effect
	slots   []int
}

// Hazards implements chains.Transaction: those that every missing signer has.
func (t *Transaction) Hazards() []chains.Hazard {
	var common []chains.Hazard
	w := workspaces.Get().(*workspace)
	defer w.release()
	effects, missing := t.effects(w), t.missingSlots()
	for i, slot := range missing {
		hazards := view{t, effects, []int{slot}}.ownHazards()
		if i == 0 {
			common = hazards
			continue
		}
		common = slices.DeleteFunc(common,
			func(hazard chains.Hazard) bool { return !slices.Contains(hazards, hazard) })
	}
	return view{t, effects, missing}.withPassages(append(t.messageHazards(), common...))
}

// ownHazards returns the hazards of the effects that the signers authorize.
func (v view) ownHazards() (hazards []chains.Hazard) {
	if v.othersControlNonce() {
		hazards = append(hazards, chains.Hazard{
			Name: HazardDurableNonce,
			Detail: "the transaction does not expire, and another than the signer can advance its nonce: " +
				"once signed it can be sent at any time",
		})
	}
	for i := range v.effects {
		if e := &v.effects[i]; !e.byOther(v.slots) {
			for _, hazard := range v.effectHazards(e) {
				hazards = append(hazards, hazard.OnEffect(i))
			}
		}
	}
	return hazards
}

func (v view) effectHazards(e *effect) (hazards []chains.Hazard) {
	add := func(name, format string, arguments ...any) {
		hazards = append(hazards, chains.Hazard{Name: name, Detail: fmt.Sprintf(format, arguments...)})
	}
	switch {
	case e.Undecoded:
		add(HazardBlindCall, "%s", v.blindText(e))
		return hazards
	case e.Kind == chains.KindFee && e.Amount.Value.Cmp(v.maxFee) > 0:
		add(HazardHighFee, "the fee may be %s lamports, above the limit of %s", e.Amount.Value, v.maxFee)
	case v.givesAway(e):
		add(HazardAuthorityChange, "control of %s goes to %s, which is not the signer", partyText(e.Account),
			partyText(e.To))
	case e.Kind == chains.KindApprove && e.Amount.Bound == chains.BoundUnlimited:
		add(HazardUnlimitedApproval, "%s may take %s units from %s", partyText(e.To), e.Amount.Value,
			partyText(e.From))
	case e.lost != "":
		add(HazardBurn, "%s is %s: what it gets cannot be spent", partyText(e.To), e.lost)
	case e.Kind == chains.KindBurn && e.danger == "":
		add(HazardBurn, "what leaves %s is destroyed", partyText(e.From))
	}
	if e.text != nil {
		hazards = append(hazards, e.text.Hazards(party(v.key(v.slots[0])), 0)...)
	}
	if e.danger != "" {
		add(e.danger, "%s", e.detail)
	}
	if len(e.Unresolved) > 0 {
		add(HazardUnresolvedAccount, "%s: an entry of a lookup table, which is not in the transaction: "+
			"pin a file of the table (docs/descriptors.md)", strings.Join(e.Unresolved, " and "))
	}
	return hazards
}

// blindText says what is called, and which signatures it is given.
func (v view) blindText(e *effect) string {
	switch {
	case e.Function == hookFunction:
		return "the mint's transfer hook may be called, which the transaction does not name, " +
			"with the accounts behind those of the transfer"
	case e.Function == chains.Unfollowed:
		return e.Function + ", first " + partyText(e.To) + ": where it goes is not known"
	case e.Path == "instructions":
		return e.Function + " are not accounted for"
	}
	text := fmt.Sprintf("program %s is called, and what it does is not known: ", partyText(e.To))
	if e.By == chains.ByStanding {
		return text + "it is stored, and executed by the authority of the account that stores it"
	}
	var signers []string
	for _, slot := range e.slots {
		if signer := encode58(v.key(slot)); !slices.Contains(signers, signer) {
			signers = append(signers, signer)
		}
	}
	if len(signers) == 0 {
		return text + "it is given no signature of this transaction, but may use what it was allowed before"
	}
	return text + "it is given the signature of " + strings.Join(signers, " and ")
}

// givesAway reports whether the effect gives control of what the signers control to anyone else.
func (v view) givesAway(e *effect) bool {
	switch {
	case e.Kind == chains.KindAuthority && !e.owned, e.danger == HazardAuthorityChange: // which says it
		return false
	case e.Kind == chains.KindStake && e.To.IsNone(), e.Kind != chains.KindAuthority && e.Kind != chains.KindStake:
		return false
	}
	return !slices.ContainsFunc(v.slots, func(slot int) bool { return e.To.Is(v.key(slot)) })
}

// Effects implements chains.Transaction. Parties are accounts: those of a token
// transfer are the token accounts, since the bytes do not name their owners. An
// effect is by the signer unless a signature that is already there authorizes it.
func (t *Transaction) Effects() []chains.Effect { return t.effectsFor(t.missingSlots()) }

// effectsFor returns the effects for the signers of some slots. An effect that another
// signer authorizes is by that one.
func (t *Transaction) effectsFor(slots []int) []chains.Effect {
	w := workspaces.Get().(*workspace)
	defer w.release()
	return view{t, t.effects(w), slots}.resolved()
}

// resolved returns the effects with who authorizes each, and with what becomes of the recipients.
func (v view) resolved() []chains.Effect {
	findPassages(v.effects)
	list := make([]chains.Effect, len(v.effects))
	for i := range v.effects {
		e := &v.effects[i]
		list[i] = e.Effect
		if e.byOther(v.slots) {
			list[i].By, list[i].OtherSigner = chains.ByOther, party(v.key(e.slots[0]))
		}
		// What brings SOL home from the account that a signer has for wrapped SOL is the only
		// transfer between two addresses that is change: the recipient is the signer itself, so that
		// nothing is spent, no matter who owns the account. In the other direction the owner matters, and
		// an associated account can have been given to another one: what goes there is a transfer to an
		// account of the signer's.
		list[i].Change = e.Kind == chains.KindTransfer && e.Asset.IsNative() && !e.From.Equal(e.To) &&
			slices.ContainsFunc(v.slots, func(slot int) bool {
				key := v.key(slot)
				return e.To.Is(key) && tokenaccount.HoldsSOL(e.From.Address(), key)
			})
	}
	return list
}

// withPassages appends the hazards of what leaves passages, which chains.Follow adds to the effects.
func (v view) withPassages(hazards []chains.Hazard) []chains.Hazard {
	if !slices.ContainsFunc(v.effects, func(e effect) bool { return e.byOther(v.slots) }) {
		return hazards
	}
	list, moved := chains.Follow(v.resolved())
	for i, from := range moved {
		e, at := v.effects[from], len(v.effects)+i
		e.Effect, e.slots = list[at], nil
		for _, hazard := range v.effectHazards(&e) {
			hazards = append(hazards, hazard.OnEffect(at))
		}
	}
	return hazards
}

// othersControlNonce reports whether the transaction lives by a durable nonce that
// signatures other than ours can advance, or that ours cannot.
func (v view) othersControlNonce() bool {
	accounts, durable := v.nonceAccounts()
	ours := false
	for _, index := range accounts {
		if v.isSigner(int(index)) {
			if ours = slices.Contains(v.slots, int(index)); !ours {
				break
			}
		}
	}
	return durable && !ours
}
