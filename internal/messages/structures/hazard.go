package structures

import (
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// The hazards of typed data.
const (
	HazardEmptyDomain         = "eip712/empty-domain"          // the domain has no members
	HazardNoChainID           = "eip712/no-chain-id"           // valid on every chain
	HazardNoVerifyingContract = "eip712/no-verifying-contract" // valid for every contract of the name
	HazardUnusedTypes         = "eip712/unused-types"          // types that nothing refers to
	HazardUnlimitedApproval   = "eip712/unlimited-approval"    // from 2^96
	HazardFarDeadline         = "eip712/far-deadline"          // more than FarDeadline ahead
	HazardOrderWithoutPrice   = "eip712/order-without-price"   // the offerer gets nothing
	HazardHiddenContents      = "eip712/hidden-contents"       // a hash or root stands for what is signed
	HazardDelegatecall        = "eip712/delegatecall"          // foreign code runs as the account
	HazardAgentApproval       = "eip712/agent-approval"        // another key may act for the account
	HazardUnknownType         = "eip712/unknown-type"          // the type is not known
	HazardForeignOwner        = "eip712/foreign-owner"         // the owner is not the signer
)

// HazardNames is the closed list of them.
func HazardNames() []string {
	return []string{HazardEmptyDomain, HazardNoChainID, HazardNoVerifyingContract, HazardUnusedTypes, HazardUnlimitedApproval,
		HazardFarDeadline, HazardOrderWithoutPrice, HazardHiddenContents, HazardDelegatecall, HazardAgentApproval,
		HazardUnknownType, HazardForeignOwner}
}

// FarDeadline is how far ahead the end of a permission may be.
const FarDeadline = 30 * 24 * time.Hour

// domainHazards are those of the domain and the types. They point at the first
// effect.
func (r *reading) domainHazards() {
	switch {
	case len(r.data.Domain.Members) == 0:
		r.danger(HazardEmptyDomain, 0, "EIP712Domain has no members, so the signature is valid in every application: some libraries send that when types.EIP712Domain is left out: list the domain's members there")
	default:
		if r.domain.chainID == nil {
			r.danger(HazardNoChainID, 0, "the domain names no chain: the signature is valid on every chain")
		}
		if r.domain.contract == nil || *r.domain.contract == [20]byte{} {
			r.danger(HazardNoVerifyingContract, 0, "the domain names no contract: the signature is valid wherever the name %q is used", r.domain.name)
		}
	}
	if unused := r.data.UnusedTypes(); len(unused) > 0 {
		r.danger(HazardUnusedTypes, 0, "type %s is used by neither the domain nor the message: it is not signed", unused[0])
	}
}

// allHazards are those of the message, and those of a signer.
func (r *reading) allHazards(effects []chains.Effect, signer chains.Party) []chains.Hazard {
	found := append([]chains.Hazard{}, r.hazards...)
	if r.calls {
		for _, hazard := range ethereum.EffectHazards(effects, signer) {
			if index, ok := hazard.Effect(); ok && effects[index].Kind != chains.KindMessage {
				found = append(found, hazard)
			}
		}
	}
	if signer.IsNone() {
		return found
	}
	for _, one := range r.owners {
		if !one.party.IsSigner() && !one.party.Equal(signer) {
			found = append(found, chains.Hazard{Name: HazardForeignOwner,
				Detail: "the owner in the message is " + one.party.String() + ", and " + signer.String() + " would sign it"}.OnEffect(one.effect))
		}
	}
	return found
}

// deadline returns when a permission ends, and flags one that is far. Seconds that
// no calendar has are never.
func (r *reading) deadline(v *eip712.Value, effect int) chains.Until {
	until := untilOf(v)
	if until.Time.IsZero() || until.Time.After(r.now.Add(FarDeadline)) {
		r.danger(HazardFarDeadline, effect, "%s is %s: more than 30 days ahead", "its end", shownEnd(until))
	}
	return until
}

func shownEnd(until chains.Until) string {
	if until.Time.IsZero() {
		return "never"
	}
	return until.String()
}

// lastTime is the end of the year 9999, in seconds since 1970.
const lastTime = 253402300799

func untilOf(v *eip712.Value) chains.Until {
	if !v.Int.IsInt64() || v.Int.Int64() > lastTime || v.Int.Sign() < 0 {
		return chains.Until{}
	}
	return chains.Until{Time: time.Unix(v.Int.Int64(), 0)}
}
