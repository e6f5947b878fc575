package tempo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// The hazards of Tempo transactions.
const (
	HazardReservedNonceKey = "tempo/reserved-nonce-key" // first byte 0x5b: the validators' subblocks
	HazardGasOverCap       = "tempo/gas-over-cap"       // over Limits.GasCap
	HazardForeignFeeToken  = "tempo/foreign-fee-token"  // fee token that is no TIP-20 token

	// HazardUnlimitedKey: an access key may spend without a limit, or with one that
	// nothing exhausts.
	HazardUnlimitedKey = "tempo/unlimited-key"

	// HazardUnscopedKey: an access key never expires, or may make any call. Limits
	// bind what it spends of TIP-20 tokens and nothing else.
	HazardUnscopedKey = "tempo/unscoped-key"

	// HazardAuthorityChange: control of the account goes to another key, such as an
	// admin key (TIP-1049).
	HazardAuthorityChange = "tempo/authority-change"

	// HazardAnyChainAuthorization: a delegation without a chain id. Its signature is
	// EIP-7702's, and valid on every chain.
	HazardAnyChainAuthorization = "tempo/any-chain-authorization"
)

// subblockPrefix is the first byte of nonce keys that belong to subblocks.
const subblockPrefix = 0x5b

// tip20Prefix begins the address of every TIP-20 token: 20c0 and ten zeros.
var tip20Prefix = [12]byte{0x20, 0xc0}

// Hazards implements chains.Transaction. None depends on the signer.
func (tx *transaction) Hazards(keystore.PublicKey) []chains.Hazard {
	var hazards []chains.Hazard
	add := func(name, detail string, args ...any) {
		hazards = append(hazards, chains.Hazard{Name: name, Detail: fmt.Sprintf(detail, args...)})
	}
	if nonceKey := tx.nonceKey.Of(tx.raw); len(nonceKey) == 32 && nonceKey[0] == subblockPrefix {
		add(HazardReservedNonceKey, "the nonce key begins with 0x5b, which belongs to the subblocks of validators")
	}
	if gasCap := cmp.Or(tx.limits.GasCap, DefaultGasCap); tx.gas > gasCap {
		add(HazardGasOverCap, "gas %d is over the cap of %d: the network does not include it", tx.gas, gasCap)
	}
	hazards = append(hazards, tx.keyHazards()...)
	hazards = append(hazards, tx.callHazards()...)
	for i := range tx.authorizations {
		if a := &tx.authorizations[i]; a.chainID.Len() == 0 && !a.signature.keychain {
			add(HazardAnyChainAuthorization, "authorization %d delegates to %v on every chain, Ethereum included: its signature is that of EIP-7702", i+1, a.delegate)
		}
	}
	if tx.hasFeeToken && !isTIP20(tx.feeToken) {
		add(HazardForeignFeeToken, "fee token %v is no TIP-20 token (20c0…): the fee cannot be paid in it", tx.feeToken)
	}
	return hazards
}

// keyHazards are those of the key authorization.
func (tx *transaction) keyHazards() (hazards []chains.Hazard) {
	key := tx.key
	if key == nil {
		return nil
	}
	add := func(name, detail string) {
		hazards = append(hazards, chains.Hazard{Name: name, Detail: fmt.Sprintf("key %v %s", key.keyID, detail)})
	}
	if key.admin {
		add(HazardAuthorityChange, "becomes an admin of the account: it can authorize and revoke other keys")
	}
	switch unlimited := slices.IndexFunc(key.limits, func(l tokenLimit) bool { return l.unlimited(tx.raw) }); {
	case !key.limited:
		add(HazardUnlimitedKey, "may spend all that the account has: its authorization sets no limits")
	case unlimited >= 0:
		add(HazardUnlimitedKey, fmt.Sprintf("has a limit for %v that nothing exhausts", key.limits[unlimited].token))
	}
	switch {
	case key.expiry == 0 && !key.scoped:
		add(HazardUnscopedKey, "never expires, and may make any call")
	case key.expiry == 0:
		add(HazardUnscopedKey, "never expires")
	case !key.scoped:
		add(HazardUnscopedKey, "may make any call: limits bind TIP-20 spending only")
	}
	return hazards
}

func isTIP20(token evm.Address) bool { return [12]byte(token[:12]) == tip20Prefix }
