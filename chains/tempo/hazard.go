package tempo

import (
	"cmp"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// The hazards of Tempo transactions, in addition to those of effects: tempo/blind-call,
// tempo/authority-change, tempo/unlimited-approval and tempo/burn.
const (
	HazardReservedNonceKey = "tempo/reserved-nonce-key" // first byte 0x5b: the validators' subblocks
	HazardGasOverCap       = "tempo/gas-over-cap"       // over Limits.GasCap
	HazardForeignFeeToken  = "tempo/foreign-fee-token"  // fee token that is no TIP-20 token
	HazardHighFee          = "tempo/high-fee"           // over Limits.MaxFee
	HazardNeverIncluded    = "tempo/never-included"     // what no node accepts: a call with a value
	HazardNoMinimum        = "tempo/no-minimum"         // a swap may give nothing

	// HazardUnlimitedKey: an access key may spend without a limit, or with one that
	// cannot be exhausted.
	HazardUnlimitedKey = "tempo/unlimited-key"

	// HazardUnscopedKey: an access key never expires, or may make any call. Limits only
	// bind what it spends of TIP-20 tokens.
	HazardUnscopedKey = "tempo/unscoped-key"

	// HazardAnyChainAuthorization: a delegation without a chain id. Its signature is
	// EIP-7702's, and valid on every chain.
	HazardAnyChainAuthorization = "tempo/any-chain-authorization"
)

// authorityChange is the hazard of effects that give control away.
const authorityChange = Name + "/" + evm.AuthorityChange

// subblockPrefix is the first byte of nonce keys that belong to subblocks.
const subblockPrefix = 0x5b

func (tx *transaction) HazardsOf(effects []chains.Effect, signer chains.Party) []chains.Hazard {
	var h evm.HazardList
	if nonceKey := tx.nonceKey.Of(tx.raw); len(nonceKey) == 32 && nonceKey[0] == subblockPrefix {
		h.Add(HazardReservedNonceKey, "the nonce key begins with 0x5b, which belongs to the subblocks of validators")
	}
	if gasCap := cmp.Or(tx.limits.GasCap, DefaultGasCap); tx.gas > gasCap {
		h.Add(HazardGasOverCap, "gas %d is over the cap of %d: the network does not include it", tx.gas, gasCap)
	}
	if number := tx.calls.valued; number > 0 {
		h.Add(HazardNeverIncluded, "call %d has a value: no account holds a native coin here, and no node takes it",
			number)
	}
	for i := range tx.authorizations { // those whose signature other chains accept too
		if a := &tx.authorizations[i]; a.AnyChain() && !a.signature.keychain {
			h.Add(HazardAnyChainAuthorization,
				"authorization %d delegates to %v on every chain, Ethereum included: its signature is that of EIP-7702",
				i+1, a.Delegate)
		}
	}
	last := len(effects) - 1 // the fee
	if tx.hasFeeToken && !evm.IsTIP20(tx.feeToken) {
		h.AddOn(last, HazardForeignFeeToken, "fee token %v is no TIP-20 token (20c0…): the fee cannot be paid in it",
			tx.feeToken)
	}
	most, fee := cmp.Or(tx.limits.MaxFee, DefaultMaxFee), tx.maximumFee()
	if detail := evm.OverFee(tx.chainID, &fee, most); detail != "" &&
		(tx.sender != nil || tx.feePayer.form == payerNone) { // or a sponsored sender does not pay it
		h.AddOn(last, HazardHighFee, "%s", detail)
	}
	keyHazards(&h, effects)
	h = append(h, evm.FeeHazards(Name, effects[:last], signer, most)...)
	for _, hazard := range evm.Hazards(Name, effects, signer) {
		if index, ok := hazard.Effect(); ok && index < len(effects) && grantsKey(effects[index]) &&
			(effects[index].Kind == chains.KindApprove || effects[index].Kind == chains.KindAuthority) {
			continue // keyHazards has it
		}
		h = append(h, hazard)
	}
	return h
}

// keyHazards adds the hazards of what another key may do from now on, granted by a key
// authorization or by a call of the AccountKeychain. Each name is added once per key.
func keyHazards(h *evm.HazardList, effects []chains.Effect) {
	added := map[string]bool{}
	once := func(index int, name, format string, args ...any) {
		if key := name + effects[index].To.String(); !added[key] {
			added[key] = true
			h.AddOn(index, name, format, args...)
		}
	}
	for i, effect := range effects {
		switch {
		case effect.By == chains.ByOther || !grantsKey(effect):
		case effect.Kind == chains.KindAuthority && (strings.HasPrefix(effect.Function, "authorizeAdminKey(") ||
			slices.Contains(effect.Args, chains.Arg{Name: "admin", Value: "true"})):
			once(i, authorityChange, "key %v becomes an admin of the account: it can authorize and revoke other keys",
				effect.To)
		case effect.Kind == chains.KindAuthority && strings.HasPrefix(effect.Function, "setAllowedCalls("):
			once(i, authorityChange, "key %v may make more calls for the account", effect.To)
		case effect.Kind == chains.KindAuthority:
			ends := ""
			if effect.Until.IsNone() {
				ends = ", and never expires"
			}
			once(i, HazardUnscopedKey, "key %v may make any call%s: limits bind TIP-20 spending only", effect.To, ends)
		case effect.Kind == chains.KindApprove && effect.Amount.Bound == chains.BoundUnlimited &&
			effect.Asset.IsUnknown():
			once(i, HazardUnlimitedKey, "key %v may spend all that the account has: it has no limits", effect.To)
		case effect.Kind == chains.KindApprove && effect.Amount.Bound == chains.BoundUnlimited:
			once(i, HazardUnlimitedKey, "key %v has a limit for %v that nothing exhausts", effect.To,
				effect.Asset.Token)
		case (effect.Kind == chains.KindApprove || effect.Kind == chains.KindSettings) && effect.Until.IsNone() &&
			!strings.HasPrefix(effect.Function, "updateSpendingLimit("):
			once(i, HazardUnscopedKey, "key %v never expires", effect.To)
		}
	}
}
