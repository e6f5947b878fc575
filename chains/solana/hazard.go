package solana

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// The hazards of Solana transactions.
const (
	// HazardZeroBlockhash: the blockhash is zero, a placeholder. The network never
	// accepts such a transaction, and filling in the blockhash invalidates the
	// signature.
	HazardZeroBlockhash = "solana/zero-blockhash"

	// HazardNoComputeBudget: the compute-unit limit is zero, or, in a v1 transaction,
	// the limit for the data of the accounts that it loads. A limit that is left out
	// means zero in v1, unlike in earlier versions. The transaction fails, and pays its
	// fee.
	HazardNoComputeBudget = "solana/no-compute-budget"

	// HazardDurableNonce: the transaction uses a durable nonce whose authority is
	// not the signer. It can be sent at any time until that authority advances the
	// nonce.
	HazardDurableNonce = "solana/durable-nonce"

	// HazardHighFee: the fee that the signer may pay exceeds Limits.MaxFee.
	HazardHighFee = "solana/high-fee"

	// HazardBlindCall: the signature authorizes an instruction that is not decoded.
	HazardBlindCall = "solana/blind-call"

	// HazardAuthorityChange: something that the signer controls passes into another
	// party's control.
	HazardAuthorityChange = "solana/authority-change"

	// HazardUnlimitedApproval: a delegate may take 2^63 units of a token or more.
	HazardUnlimitedApproval = "solana/unlimited-approval"

	// HazardUnresolvedAccount: a party of an effect is an entry of a lookup table
	// that is not known. The transaction does not contain its address, and the entry
	// may be added after signing.
	HazardUnresolvedAccount = "solana/unresolved-account"

	// HazardBurn: the signer's tokens or SOL are destroyed, or go to an account that
	// no one can spend from: the incinerator, a program, a sysvar, a mint, or a token
	// account of these.
	HazardBurn = "solana/burn"
)

// HazardNames implements chains.Chain.
func (Chain) HazardNames() []string {
	return []string{HazardZeroBlockhash, HazardNoComputeBudget, HazardDurableNonce, HazardHighFee, HazardBlindCall,
		HazardAuthorityChange, HazardUnlimitedApproval, HazardUnresolvedAccount, HazardBurn}
}

// Hazards implements chains.Transaction: those that every missing signer has.
func (t *Transaction) Hazards() []chains.Hazard {
	var common []chains.Hazard
	w := workspaces.Get().(*workspace)
	defer w.release()
	effects := t.effects(w)
	for i, slot := range t.missingSlots() {
		hazards := t.hazardsFor(effects, []int{slot})
		if i == 0 {
			common = hazards
			continue
		}
		common = slices.DeleteFunc(common, func(hazard chains.Hazard) bool { return !slices.Contains(hazards, hazard) })
	}
	return t.passedOn(append(t.messageHazards(), common...), effects, t.missingSlots())
}

// messageHazards returns the hazards that do not depend on which key signs.
func (m *message) messageHazards() (hazards []chains.Hazard) {
	if allZero(m.blockhash()) {
		hazards = append(hazards, chains.Hazard{
			Name:   HazardZeroBlockhash,
			Detail: "the blockhash is zero: fill in a recent one or a nonce before signing",
		})
	}
	if missing := m.missingLimits(); len(missing) > 0 {
		detail := "no " + strings.Join(missing, " and no ") + ": in a v1 transaction that means zero, and it fails at a fee"
		if m.version != Version1 {
			detail = "the compute-unit limit is set to 0: the transaction fails at a fee"
		}
		hazards = append(hazards, chains.Hazard{Name: HazardNoComputeBudget, Detail: detail})
	}
	return hazards
}

// missingLimits names the limits that are missing or zero, so that the transaction
// cannot succeed.
func (m *message) missingLimits() (missing []string) {
	if m.version != Version1 {
		if m.budget.unitsAreSet && m.budget.units == 0 {
			return []string{"compute-unit limit"}
		}
		return nil
	}
	if m.config.computeUnitLimit == 0 {
		missing = append(missing, "compute-unit limit")
	}
	if m.config.loadedDataLimit == 0 {
		missing = append(missing, "loaded accounts data size limit")
	}
	return missing
}

// hazardsFor returns the hazards of the transaction's effects for the signers of
// some slots.
func (t *Transaction) hazardsFor(effects []effect, slots []int) (hazards []chains.Hazard) {
	if t.othersControlNonce(slots) {
		hazards = append(hazards, chains.Hazard{
			Name:   HazardDurableNonce,
			Detail: "the transaction does not expire, and another than the signer can advance its nonce: once signed it can be sent at any time",
		})
	}
	for i := range effects {
		if e := &effects[i]; !e.byOther(slots) {
			for _, hazard := range t.effectHazards(e, slots) {
				hazards = append(hazards, hazard.OnEffect(i))
			}
		}
	}
	return hazards
}

// othersControlNonce reports whether the transaction lives by a durable nonce that
// signatures other than ours can advance, or that ours cannot.
func (m *message) othersControlNonce(slots []int) bool {
	accounts, durable := m.nonceAccounts()
	ours := false
	for _, index := range accounts {
		if m.isSigner(int(index)) {
			if ours = slices.Contains(slots, int(index)); !ours {
				break
			}
		}
	}
	return durable && !ours
}

// effectHazards returns the hazards of an effect that a signature in one of the
// slots authorizes.
func (t *Transaction) effectHazards(e *effect, slots []int) (hazards []chains.Hazard) {
	add := func(name, format string, arguments ...any) {
		hazards = append(hazards, chains.Hazard{Name: name, Detail: fmt.Sprintf(format, arguments...)})
	}
	switch {
	case e.Undecoded:
		add(HazardBlindCall, "%s", t.blindText(e))
		return hazards
	case e.Kind == chains.KindFee && e.Amount.Value.Cmp(t.maxFee) > 0:
		add(HazardHighFee, "the fee may be %s lamports, above the limit of %s", e.Amount.Value, t.maxFee)
	case t.givesAway(e, slots):
		add(HazardAuthorityChange, "control of %s goes to %s, which is not the signer", partyText(e.Account), partyText(e.To))
	case e.Kind == chains.KindApprove && e.Amount.Bound == chains.BoundUnlimited:
		add(HazardUnlimitedApproval, "%s may take %s units from %s", partyText(e.To), e.Amount.Value, partyText(e.From))
	case e.lost != "":
		add(HazardBurn, "%s is %s: what it gets cannot be spent", partyText(e.To), e.lost)
	case e.Kind == chains.KindBurn && e.danger == "":
		add(HazardBurn, "what leaves %s is destroyed", partyText(e.From))
	}
	if e.text != nil {
		hazards = append(hazards, e.text.Hazards(party(t.key(slots[0])), 0)...)
	}
	if e.danger != "" {
		add(e.danger, "%s", e.detail)
	}
	if len(e.Unresolved) > 0 {
		add(HazardUnresolvedAccount, "%s: an entry of a lookup table, which is not in the transaction: pin a file of the table (docs/descriptors.md)", strings.Join(e.Unresolved, " and "))
	}
	return hazards
}

// blindText says what is called, and which signatures it is given.
func (t *Transaction) blindText(e *effect) string {
	switch {
	case e.Function == hookFunction:
		return "the mint's transfer hook may be called, which the transaction does not name, with the accounts behind those of the transfer"
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
		if signer := encode58(t.key(slot)); !slices.Contains(signers, signer) {
			signers = append(signers, signer)
		}
	}
	if len(signers) == 0 {
		return text + "it is given no signature of this transaction, but may use what it was allowed before"
	}
	return text + "it is given the signature of " + strings.Join(signers, " and ")
}

// givesAway reports whether the effect gives control of what the signers control to
// anyone else.
func (t *Transaction) givesAway(e *effect, slots []int) bool {
	switch {
	case e.Kind == chains.KindAuthority && !e.owned:
		return false
	case e.Kind == chains.KindStake && e.To.IsNone(), e.Kind != chains.KindAuthority && e.Kind != chains.KindStake:
		return false
	}
	return !slices.ContainsFunc(slots, func(slot int) bool { return e.To.Is(t.key(slot)) })
}

// partyText returns a party as text for a hazard's detail.
func partyText(p chains.Party) string {
	switch {
	case p.IsNone():
		return "no one"
	case p.IsUnknown():
		return "an address that the transaction does not contain"
	}
	return p.String()
}
