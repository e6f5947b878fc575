package tempo

import (
	"cmp"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// The hazards of Tempo transactions.
const (
	HazardReservedNonceKey = "tempo/reserved-nonce-key" // first byte 0x5b: the validators' subblocks
	HazardGasOverCap       = "tempo/gas-over-cap"       // over Limits.GasCap
	HazardUnlimitedKey     = "tempo/unlimited-key"      // key authorization without limits
	HazardAdminKey         = "tempo/admin-key"          // key authorization that makes an admin (TIP-1049)
	HazardForeignFeeToken  = "tempo/foreign-fee-token"  // fee token that is no TIP-20 token
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
	if tx.key != nil && !tx.key.limited {
		add(HazardUnlimitedKey, "key %v may spend all that the account has: its authorization sets no limits", tx.key.keyID)
	}
	if tx.key != nil && tx.key.admin {
		add(HazardAdminKey, "key %v becomes an admin of the account: it can authorize and revoke other keys", tx.key.keyID)
	}
	if tx.hasFeeToken && !isTIP20(tx.feeToken) {
		add(HazardForeignFeeToken, "fee token %v is no TIP-20 token (20c0…): the fee cannot be paid in it", tx.feeToken)
	}
	return hazards
}

func isTIP20(token evm.Address) bool { return [12]byte(token[:12]) == tip20Prefix }
