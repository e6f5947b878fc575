package solana

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// The hazards of Solana transactions.
const (
	// HazardZeroBlockhash: the blockhash is zero, a placeholder that was meant to
	// be replaced. The network never takes such a transaction, and a signature over
	// it is lost when the blockhash is filled in.
	HazardZeroBlockhash = "solana/zero-blockhash"

	// HazardNoComputeBudget: a v1 transaction has no compute-unit limit or no limit
	// for the data of the accounts it loads, or zero for it, which both mean zero,
	// unlike in the earlier versions; or one of these sets its limit to zero. The
	// transaction fails, and is paid for.
	HazardNoComputeBudget = "solana/no-compute-budget"

	// HazardDurableNonce: the transaction lives by a durable nonce whose authority
	// is not the signer. It can be sent at any time until that authority advances
	// the nonce.
	HazardDurableNonce = "solana/durable-nonce"

	// HazardHighFee: the fee that the signer may pay is above Limits.MaxFee.
	HazardHighFee = "solana/high-fee"

	// HazardBlindCall: an instruction that is not decoded is given the signature.
	HazardBlindCall = "solana/blind-call"

	// HazardAuthorityChange: control of what the signer controls goes to another.
	HazardAuthorityChange = "solana/authority-change"

	// HazardUnlimitedApproval: a delegate may take 2^63 units of a token or more.
	HazardUnlimitedApproval = "solana/unlimited-approval"

	// HazardUnresolvedAccount: a party of an effect is an entry of a lookup table that
	// is not known: its content is not in the transaction, and can be added after signing.
	HazardUnresolvedAccount = "solana/unresolved-account"

	// HazardBurn: the signer's tokens or SOL are destroyed.
	HazardBurn = "solana/burn"
)

// HazardNames implements chains.Chain.
func (Chain) HazardNames() []string {
	return []string{HazardZeroBlockhash, HazardNoComputeBudget, HazardDurableNonce, HazardHighFee, HazardBlindCall,
		HazardAuthorityChange, HazardUnlimitedApproval, HazardUnresolvedAccount, HazardBurn}
}

// Hazards implements chains.Transaction: those that there are whichever of the
// missing signers signs.
func (t *Transaction) Hazards() []chains.Hazard {
	hazards := t.messageHazards()
	var common []chains.Hazard
	first := true
	for slot := range t.header.required {
		if t.filled(slot) {
			continue
		}
		found := t.hazardsFor([]int{slot})
		if first {
			common, first = found, false
			continue
		}
		common = slices.DeleteFunc(common, func(hazard chains.Hazard) bool { return !slices.Contains(found, hazard) })
	}
	return append(hazards, common...)
}

// messageHazards are those of the message, whichever key signs it.
func (t *Transaction) messageHazards() (hazards []chains.Hazard) {
	if allZero(t.blockhash()) {
		hazards = append(hazards, chains.Hazard{
			Name:   HazardZeroBlockhash,
			Detail: "the blockhash is zero: fill in a recent one or a nonce before signing",
		})
	}
	if missing := t.missingLimits(); len(missing) > 0 {
		detail := "no " + strings.Join(missing, " and no ") + ": in a v1 transaction that means zero, and it fails at a fee"
		if t.version != Version1 {
			detail = "the compute-unit limit is set to 0: the transaction fails at a fee"
		}
		hazards = append(hazards, chains.Hazard{Name: HazardNoComputeBudget, Detail: detail})
	}
	return hazards
}

// missingLimits names the limits without which a transaction cannot succeed.
func (t *Transaction) missingLimits() (missing []string) {
	if t.version != Version1 {
		if units, set := t.budget(setComputeUnitLimit, 4); set && units == 0 {
			return []string{"compute-unit limit"}
		}
		return nil
	}
	if t.config.computeUnitLimit == 0 {
		missing = append(missing, "compute-unit limit")
	}
	if t.config.loadedDataLimit == 0 {
		missing = append(missing, "loaded accounts data size limit")
	}
	return missing
}

// hazardsFor are those for the signers of some slots.
func (t *Transaction) hazardsFor(slots []int) (hazards []chains.Hazard) {
	if hazard, ok := t.nonceHazard(slots); ok {
		hazards = append(hazards, hazard)
	}
	for i, e := range t.resolved(slots) {
		if e.By == chains.ByOther {
			continue
		}
		for _, hazard := range t.effectHazards(e, slots) {
			hazards = append(hazards, hazard.OnEffect(i))
		}
	}
	return hazards
}

// nonceHazard is there unless our signature alone is what the nonce's advance
// can be authorized by.
func (t *Transaction) nonceHazard(slots []int) (hazard chains.Hazard, ok bool) {
	accounts, durable := t.nonceAccounts()
	if !durable {
		return hazard, false
	}
	ours := false
	for _, index := range accounts {
		if t.isSigner(int(index)) {
			if ours = slices.Contains(slots, int(index)); !ours {
				break
			}
		}
	}
	return chains.Hazard{
		Name:   HazardDurableNonce,
		Detail: "the transaction does not expire, and another than the signer can advance its nonce: once signed it can be sent at any time",
	}, !ours
}

// effectHazards are those that follow from an effect of our signature.
func (t *Transaction) effectHazards(e effect, slots []int) (hazards []chains.Hazard) {
	add := func(name, format string, arguments ...any) {
		hazards = append(hazards, chains.Hazard{Name: name, Detail: fmt.Sprintf(format, arguments...)})
	}
	switch {
	case e.Undecoded:
		add(HazardBlindCall, "program %s is called, and what it does is not known: it is given the signature", spell(e.To))
		return hazards
	case e.Kind == chains.KindFee && e.Amount.Value.Cmp(t.maxFee) > 0:
		add(HazardHighFee, "the fee may be %s lamports, above the limit of %s", e.Amount.Value, t.maxFee)
	case t.givesAway(e, slots):
		add(HazardAuthorityChange, "control of %s goes to %s, which is not the signer", spell(e.Account), spell(e.To))
	case e.Kind == chains.KindApprove && e.Amount.Bound == chains.BoundUnlimited:
		add(HazardUnlimitedApproval, "%s may take %s units from %s", spell(e.To), e.Amount.Value, spell(e.From))
	case e.Kind == chains.KindBurn:
		add(HazardBurn, "what leaves %s is destroyed", spell(e.From))
	}
	if e.danger != "" {
		add(e.danger, "%s", e.detail)
	}
	if len(e.Unresolved) > 0 {
		add(HazardUnresolvedAccount, "%s: an entry of a lookup table, which is not in the transaction: pin a file of the table (docs/descriptors.md)", strings.Join(e.Unresolved, " and "))
	}
	return hazards
}

// givesAway reports whether the effect gives another than the signers control of
// what they control.
func (t *Transaction) givesAway(e effect, slots []int) bool {
	switch {
	case e.Kind == chains.KindAuthority && !e.owned:
		return false
	case e.Kind == chains.KindStake && e.To.IsNone(), e.Kind != chains.KindAuthority && e.Kind != chains.KindStake:
		return false
	}
	return !slices.ContainsFunc(slots, func(slot int) bool { return e.To.Is(t.key(slot)) })
}

// spell writes a party, in a hazard's sentence.
func spell(p chains.Party) string {
	switch {
	case p.IsNone():
		return "no one"
	case p.IsUnknown():
		return "an address that the transaction does not contain"
	}
	return p.String()
}
