package structures

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/texts"
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
	HazardOrderWithoutPrice   = "eip712/order-without-price"   // nothing, or nothing of known worth, comes back
	HazardHiddenContents      = "eip712/hidden-contents"       // a hash or root takes the place of what is signed
	HazardDelegatecall        = "eip712/delegatecall"          // another contract's code runs as the account
	HazardAgentApproval       = "eip712/agent-approval"        // another key may act for the account
	HazardUnknownType         = "eip712/unknown-type"          // the meaning of the type is unknown
	HazardForeignOwner        = "eip712/foreign-owner"         // the owner is not the signer
)

// HazardNames returns all hazards of this package.
func HazardNames() []string {
	return []string{HazardEmptyDomain, HazardNoChainID, HazardNoVerifyingContract, HazardTextDomain, HazardUnusedTypes,
		HazardUnlimitedApproval,
		HazardFarDeadline, HazardOrderWithoutPrice, HazardHiddenContents, HazardDelegatecall, HazardAgentApproval,
		HazardUnknownType, HazardForeignOwner}
}

// FarDeadline is how far ahead a permission may end without a hazard: the 30 days that clients
// ask for by their own clock (Permit2 in Uniswap's interface), and a day for ours.
const FarDeadline = 31 * 24 * time.Hour

// farOrder is FarDeadline for an order at a price: the year that exchanges offer for limit orders,
// or the 180 days of a listing, and a day for our clock.
const farOrder = 367 * 24 * time.Hour

func (r *reading) domainHazards() {
	if len(r.data.Domain.List) == 0 {
		r.danger(HazardEmptyDomain, whole, "EIP712Domain has no members, so the signature is valid in every "+
			"application: list the domain's members in types.EIP712Domain, which some libraries leave empty")
	} else {
		if r.domain.chainID == nil {
			r.danger(HazardNoChainID, whole, "the domain names no chain: the signature is valid on every chain")
		}
		if r.domain.text != "" {
			r.danger(HazardTextDomain, whole, "%s of the domain is text, as wallets of Cosmos chains write it: no "+
				"contract verifies the message, but a chain that reads it as a transaction", r.domain.text)
		}
		if !r.byChain && r.domain.text != "verifyingContract" &&
			(r.domain.contract == nil || *r.domain.contract == [20]byte{}) {
			r.danger(HazardNoVerifyingContract, whole, "the domain names no contract: the signature is valid for "+
				"every contract with the name %q", r.domain.name)
		}
	}
	if unused := r.data.UnusedTypes(); len(unused) > 0 {
		r.danger(HazardUnusedTypes, whole,
			"neither the domain nor the message uses the type %q: it is not signed", unused[0])
	}
}

// keyHazard adds the hazard of a text anywhere in the message whose signature becomes a key.
func (r *reading) keyHazard(v *chains.TypedValue) bool {
	if v.Type == "string" {
		of := texts.DerivesKey(string(v.Bytes))
		if of != "" {
			r.danger(texts.HazardKeyDerivation, whole, texts.KeyDerivation, of)
		}
		return of != ""
	}
	for i := range v.List { // by index: a copy of each value would be allocated
		if r.keyHazard(&v.List[i]) {
			return true
		}
	}
	return false
}

// ownName returns the name that the hazard of an effect has in typed data. What the message
// itself does has names of its own; the calls in it have those of transactions.
func (r *reading) ownName(name string, effect *chains.Effect) string {
	direct := strings.HasPrefix(effect.Path, "message")
	switch strings.TrimPrefix(name, r.data.Chain+"/") {
	case evm.BlindCall:
		if effect.Kind == chains.KindMessage {
			return HazardUnknownType
		}
	case evm.UnlimitedApproval:
		if direct {
			return HazardUnlimitedApproval
		}
	case evm.AuthorityChange:
		if direct {
			return HazardAgentApproval
		}
	}
	return name
}

// Hazards implements statement.Content: those that the effects have on every carrier, those of the
// message, and, if the signer is known, those that depend on it.
func (r *reading) Hazards(by statement.Signer) []chains.Hazard {
	effects, signer := by.Resolve(slices.Clone(r.effects), r.own), by.Party
	hazards := evm.Dangers(r.data.Chain, effects, signer, r.maxFee)
	for i := range hazards {
		if index, ok := hazards[i].Effect(); ok && index < len(effects) {
			hazards[i].Name = r.ownName(hazards[i].Name, &effects[index])
		}
	}
	hazards = append(hazards, r.hazards...)
	for _, order := range r.orders {
		if why := worthless(effects[min(order.first, len(effects)):min(order.last, len(effects))], signer); why != "" {
			hazards = append(hazards, chains.Hazard{Name: HazardOrderWithoutPrice, Detail: why})
			break
		}
	}
	if signer.IsNone() {
		return hazards
	}
	for _, owner := range r.owners {
		if !owner.Party.IsSigner() && !owner.Party.Equal(signer) {
			hazards = append(hazards, chains.Hazard{Name: HazardForeignOwner,
				Detail: "the owner in the message is " + owner.Party.String() + ", but " + signer.String() +
					" would sign it"}.OnEffect(owner.Effect))
		}
	}
	return hazards
}

// deadline returns when a permission ends, and adds a hazard of the effect, or of the
// whole message, if that is far ahead or never.
func (r *reading) deadline(v *chains.TypedValue, effect int) chains.Until {
	until := evm.TimeOf(v.Number)
	r.ends(until, effect)
	return until
}

// ends adds a hazard of the effect, or of the whole message, if the end is far ahead.
func (r *reading) ends(until chains.Until, effect int) {
	far := FarDeadline
	if r.order {
		far = farOrder
	}
	if until.Time.IsZero() || until.Time.After(r.now.Add(far)) {
		end := "never"
		if !until.Time.IsZero() {
			end = until.String()
		}
		r.danger(HazardFarDeadline, effect, "it ends %s: more than %d days ahead", end, far/(24*time.Hour))
	}
}
