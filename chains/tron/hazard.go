package tron

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// The hazards of this chain.
const (
	// HazardAccountPermissionUpdate: the transaction replaces the account's
	// permissions. Whoever it names controls the account from then on; who it
	// does not name, the owner's own key included, has lost it.
	HazardAccountPermissionUpdate = "tron/account-permission-update"

	// HazardForeignOwner: the owner is not the key's address. Usual for one who
	// signs under another account's permission, never malformed.
	HazardForeignOwner = "tron/foreign-owner"

	// HazardLongExpiration: the transaction expires later after its timestamp
	// than Limits.Lifetime, or has no timestamp to measure from. It can be
	// broadcast long after it was meant to be.
	HazardLongExpiration = "tron/long-expiration"

	// HazardFeeLimit: fee_limit is above Limits.FeeLimit, or missing where a
	// smart contract is called or made.
	HazardFeeLimit = "tron/fee-limit"

	// HazardExpiredBeforeTimestamp: the transaction expires before it was made,
	// or right then.
	HazardExpiredBeforeTimestamp = "tron/expired-before-timestamp"
)

// Hazards implements chains.Transaction.
func (tx *transaction) Hazards(signer keystore.PublicKey) []chains.Hazard {
	var found []chains.Hazard
	if tx.contract.message == accountPermissionUpdateContract {
		found = append(found, chains.Hazard{Name: HazardAccountPermissionUpdate,
			Detail: fmt.Sprintf("replaces the permissions of %s: only the keys it names can sign for that account from then on", tx.owner())})
	}
	if signer.Curve() == keystore.CurveSecp256k1 && addressOf(signer) != tx.owner() {
		found = append(found, chains.Hazard{Name: HazardForeignOwner,
			Detail: fmt.Sprintf("the owner is %s, the key is at %s", tx.owner(), addressOf(signer))})
	}
	found = tx.appendTimeHazard(found)
	return tx.appendFeeHazard(found)
}

func (tx *transaction) appendTimeHazard(found []chains.Hazard) []chains.Hazard {
	expiration, timestamp := tx.frame[rawExpiration].number, tx.frame[rawTimestamp].number
	switch {
	case !tx.frame[rawTimestamp].present():
		return append(found, chains.Hazard{Name: HazardLongExpiration, Detail: "there is no timestamp to measure the expiration from"})
	case expiration <= timestamp:
		return append(found, chains.Hazard{Name: HazardExpiredBeforeTimestamp,
			Detail: fmt.Sprintf("expiration %d is not after timestamp %d", expiration, timestamp)})
	case expiration-timestamp > tx.limits.Lifetime.Milliseconds():
		return append(found, chains.Hazard{Name: HazardLongExpiration,
			Detail: fmt.Sprintf("expires %s after its timestamp, the cap is %s", milliseconds(expiration-timestamp), tx.limits.Lifetime)})
	}
	return found
}

// milliseconds writes a span of time, however long.
func milliseconds(span int64) string {
	if span > int64(1<<63-1)/int64(time.Millisecond) {
		return fmt.Sprintf("%d ms", span)
	}
	return (time.Duration(span) * time.Millisecond).String()
}

func (tx *transaction) appendFeeHazard(found []chains.Hazard) []chains.Hazard {
	limit := tx.frame[rawFeeLimit]
	switch {
	case !limit.present() && tx.contract.runsCode():
		return append(found, chains.Hazard{Name: HazardFeeLimit, Detail: "fee_limit is missing, which is 0: the contract can run only on energy that is staked for"})
	case limit.number > tx.limits.FeeLimit:
		return append(found, chains.Hazard{Name: HazardFeeLimit,
			Detail: fmt.Sprintf("fee_limit is %s TRX, the cap is %s TRX", trx(limit.number), trx(tx.limits.FeeLimit))})
	}
	return found
}

// trx writes an amount in sun as TRX.
func trx(sun int64) string { return chains.Decimal(fmt.Sprint(sun), sunDecimals) }
