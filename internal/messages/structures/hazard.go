package structures

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/messages/personal"
)

// The hazards of typed data.
const (
	HazardEmptyDomain         = "eip712/empty-domain"          // the domain has no members
	HazardNoChainID           = "eip712/no-chain-id"           // valid on every chain
	HazardNoVerifyingContract = "eip712/no-verifying-contract" // valid for every contract with this name
	HazardTextDomain          = "eip712/text-domain"           // the contract or the salt is text, as Cosmos chains have it
	HazardUnusedTypes         = "eip712/unused-types"          // types that neither domain nor message uses
	HazardUnlimitedApproval   = "eip712/unlimited-approval"    // 2^96 or more
	HazardFarDeadline         = "eip712/far-deadline"          // more than FarDeadline ahead
	HazardOrderWithoutPrice   = "eip712/order-without-price"   // the offerer gets nothing
	HazardHiddenContents      = "eip712/hidden-contents"       // a hash or root takes the place of what is signed
	HazardDelegatecall        = "eip712/delegatecall"          // another contract's code runs as the account
	HazardAgentApproval       = "eip712/agent-approval"        // another key may act for the account
	HazardUnknownType         = "eip712/unknown-type"          // the meaning of the type is unknown
	HazardForeignOwner        = "eip712/foreign-owner"         // the owner is not the signer
)

// HazardNames returns all hazards of this package.
func HazardNames() []string {
	return []string{HazardEmptyDomain, HazardNoChainID, HazardNoVerifyingContract, HazardTextDomain, HazardUnusedTypes, HazardUnlimitedApproval,
		HazardFarDeadline, HazardOrderWithoutPrice, HazardHiddenContents, HazardDelegatecall, HazardAgentApproval,
		HazardUnknownType, HazardForeignOwner}
}

// FarDeadline is how far ahead a permission may end without a hazard.
const FarDeadline = 30 * 24 * time.Hour

// domainHazards adds the hazards of the domain and the types.
func (r *reading) domainHazards() {
	if len(r.data.Domain.Members) == 0 {
		r.danger(HazardEmptyDomain, whole, "EIP712Domain has no members, so the signature is valid in every application: list the domain's members in types.EIP712Domain, which some libraries leave empty")
	} else {
		if r.domain.chainID == nil {
			r.danger(HazardNoChainID, whole, "the domain names no chain: the signature is valid on every chain")
		}
		if r.domain.text != "" {
			r.danger(HazardTextDomain, whole, "%s of the domain is text, as wallets of Cosmos chains write it: no contract verifies the message, but a chain that reads it as a transaction", r.domain.text)
		}
		if r.domain.text != "verifyingContract" && (r.domain.contract == nil || *r.domain.contract == [20]byte{}) {
			r.danger(HazardNoVerifyingContract, whole, "the domain names no contract: the signature is valid for every contract with the name %q", r.domain.name)
		}
	}
	if unused := r.data.UnusedTypes(); len(unused) > 0 {
		r.danger(HazardUnusedTypes, whole, "neither the domain nor the message uses the type %q: it is not signed", unused[0])
	}
}

// keyHazard adds the hazard of a text anywhere in the message whose signature becomes a key.
func (r *reading) keyHazard(v *eip712.Value) bool {
	if v.Type == "string" {
		of := personal.DerivesKey(v.Text)
		if of != "" {
			r.danger(personal.HazardKeyDerivation, whole, personal.KeyDerivation, of)
		}
		return of != ""
	}
	for i := range v.Members { // by index: a copy of each value would be allocated
		if r.keyHazard(&v.Members[i].Value) {
			return true
		}
	}
	for i := range v.List {
		if r.keyHazard(&v.List[i]) {
			return true
		}
	}
	return false
}

// ownNames are the hazards of effects, without the chain in front, that typed data gives a
// name of its own.
var ownNames = map[string]string{
	evm.BlindCall: HazardUnknownType, evm.UnlimitedApproval: HazardUnlimitedApproval, evm.AuthorityChange: HazardAgentApproval,
}

// named reports whether the message has the hazard of an effect by its own name.
func (r *reading) named(hazard chains.Hazard) bool {
	index, ok := hazard.Effect()
	return ok && slices.ContainsFunc(r.hazards, func(own chains.Hazard) bool {
		at, ok := own.Effect()
		return ok && at == index && own.Name == ownNames[strings.TrimPrefix(hazard.Name, r.data.Chain+"/")]
	})
}

// allHazards returns the hazards of the message: its own, those that its effects have on
// every carrier, and, unless signer is none, those that depend on the signer.
func (r *reading) allHazards(effects []chains.Effect, signer chains.Party) []chains.Hazard {
	hazards := slices.Clone(r.hazards)
	for _, hazard := range r.chain.EffectHazards(effects, signer) {
		if !r.named(hazard) {
			hazards = append(hazards, hazard)
		}
	}
	if signer.IsNone() {
		return hazards
	}
	for _, owner := range r.owners {
		if !owner.party.IsSigner() && !owner.party.Equal(signer) {
			hazards = append(hazards, chains.Hazard{Name: HazardForeignOwner,
				Detail: "the owner in the message is " + owner.party.String() + ", but " + signer.String() + " would sign it"}.OnEffect(owner.effect))
		}
	}
	return hazards
}

// deadline returns when a permission ends, and adds a hazard of the effect, or of the
// whole message, if that is far ahead or never. To take a permission back is never late.
func (r *reading) deadline(v *eip712.Value, effect int) chains.Until {
	until := untilOf(v)
	if effect != whole && r.effects[effect].Kind == chains.KindRevoke {
		return until
	}
	if until.Time.IsZero() || until.Time.After(r.now.Add(FarDeadline)) {
		r.danger(HazardFarDeadline, effect, "it ends %s: more than 30 days ahead", endText(until))
	}
	return until
}

func endText(until chains.Until) string {
	if until.Time.IsZero() {
		return "never"
	}
	return until.String()
}

// lastTime is the end of the year 9999, in seconds since 1970. Anything later is never.
const lastTime = 253402300799

func untilOf(v *eip712.Value) chains.Until {
	if !v.Int.IsInt64() || v.Int.Int64() > lastTime || v.Int.Sign() < 0 {
		return chains.Until{}
	}
	return chains.Until{Time: time.Unix(v.Int.Int64(), 0)}
}
