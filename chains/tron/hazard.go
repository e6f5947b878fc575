package tron

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// The hazards of this chain, in addition to those of effects: tron/authority-change,
// tron/blind-call, tron/unlimited-approval and tron/burn.
const (
	// HazardForeignOwner: the owner is not the key's address. That is usual for a
	// signer under another account's permission, and never malformed.
	HazardForeignOwner = "tron/foreign-owner"

	// HazardLongExpiration: the transaction expires later after its timestamp than Limits.Lifetime,
	// or has no timestamp to measure from. It can be broadcast long after it was intended to be.
	HazardLongExpiration = "tron/long-expiration"

	// HazardFeeLimit: fee_limit, or the fee without it, is above Limits.FeeLimit; or fee_limit is
	// missing where a smart contract is called or created.
	HazardFeeLimit = "tron/fee-limit"

	// HazardExpiredBeforeTimestamp: the transaction does not expire after its timestamp.
	HazardExpiredBeforeTimestamp = "tron/expired-before-timestamp"
)

// Hazards implements chains.Transaction. An authority for another party than the
// owner is a hazard whichever key signs.
func (tx *transaction) Hazards() []chains.Hazard { return tx.hazards() }

func (tx *transaction) hazards() evm.HazardList {
	var h evm.HazardList
	network.Judge(func(pass *evm.Pass) {
		effects := tx.effects(pass)
		h = evm.Hazards(Name, effects, tx.ownerParty)
		expiration, timestamp := tx.frame[rawExpiration].number, tx.frame[rawTimestamp].number
		switch {
		case !tx.frame[rawTimestamp].present():
			h.Add(HazardLongExpiration, "there is no timestamp to measure the expiration from")
		case expiration <= timestamp:
			h.Add(HazardExpiredBeforeTimestamp, "expiration %d is not after timestamp %d", expiration, timestamp)
		case expiration-timestamp > tx.limits.Lifetime.Milliseconds():
			h.Add(HazardLongExpiration, "expires %s after its timestamp, the cap is %s",
				time.UnixMilli(expiration).Sub(time.UnixMilli(timestamp)), tx.limits.Lifetime)
		}
		tx.feeHazard(&h, len(effects)-1)
	})
	return h
}

func (s *signing) Hazards() []chains.Hazard {
	h := s.tx.hazards()
	if owner := s.tx.owner; s.address != owner {
		h.Add(HazardForeignOwner, "the owner is %s, the key is at %s", owner, s.address)
	}
	return h
}

// feeHazard adds the hazard of the fee, which points at its effect.
func (tx *transaction) feeHazard(h *evm.HazardList, index int) {
	limit, besides := tx.frame[rawFeeLimit], "" // what the fee does not include
	if tx.contract.runsCode() {
		besides = " besides fee_limit"
	}
	switch {
	case !limit.present() && tx.contract.runsCode():
		h.AddOn(index, HazardFeeLimit, "fee_limit is missing, which is 0: the contract can run only on energy that "+
			"is staked for")
	case limit.number > tx.limits.FeeLimit:
		h.AddOn(index, HazardFeeLimit, "fee_limit is %s TRX, the cap is %s TRX", trx(uint64(limit.number)),
			trx(uint64(tx.limits.FeeLimit)))
	case tx.otherFees() > uint64(tx.limits.FeeLimit):
		h.AddOn(index, HazardFeeLimit, "the fee is up to %s TRX%s, the cap is %s TRX", trx(tx.otherFees()),
			besides, trx(uint64(tx.limits.FeeLimit)))
	}
}

func trx(sun uint64) string { return chains.Decimal(fmt.Sprint(sun), sunDecimals) }

func (Chain) HazardNames() []string {
	return append(evm.HazardNames(Name), HazardForeignOwner, HazardLongExpiration, HazardFeeLimit,
		HazardExpiredBeforeTimestamp)
}
