package tron

import "github.com/countersign-dev/countersign/chains"

// The fees that the network burns, in sun: chain parameters that the super
// representatives can change, with their values on mainnet in 2026-11. Source:
// java-tron's DynamicPropertiesStore, and the chain's getChainParameters.
const (
	feeWitness       = 9_999_000_000 // AccountUpgradeCost
	feePermissions   = 100_000_000   // UpdateAccountPermissionFee
	feeAssetIssue    = 1_024_000_000 // AssetIssueFee
	feeExchange      = 1_024_000_000 // ExchangeCreateFee
	feeNewAccount    = 1_000_000     // CreateNewAccountFeeInSystemContract
	feeNewAccountNet = 100_000       // CreateAccountFee, instead of the bandwidth
	feeMemo          = 1_000_000     // MemoFee
	feeMultiSign     = 1_000_000     // MultiSignFee, with two or more signatures
	feePerByte       = 1_000         // TransactionFee, without bandwidth
)

// maxFees is the largest number of parts of a fee.
const maxFees = 6

// fee is one part of the most that a transaction can cost.
type fee struct {
	label string
	sun   int64
	note  string
}

// contractFee returns what executing the contract always burns.
func (c *contract) contractFee() int64 {
	switch c.message {
	case witnessCreateContract:
		return feeWitness
	case accountPermissionUpdateContract:
		return feePermissions
	case assetIssueContract:
		return feeAssetIssue
	case exchangeCreateContract:
		return feeExchange
	case accountCreateContract:
		return feeNewAccount
	}
	return 0
}

// fees returns the parts of the most that the transaction can cost. The transaction
// does not say whether bandwidth has to be paid for, or whether a receiver is a new
// account. Further signatures are counted if the transaction says that there are any;
// otherwise the other parties authorize their cost.
func (tx *transaction) fees() []fee {
	parts := make([]fee, 0, maxFees)
	if sun := tx.contract.contractFee(); sun > 0 {
		parts = append(parts, fee{"burned", sun, "for " + tx.contract.message.name})
	}
	if tx.contract.message == transferContract || tx.contract.message == transferAssetContract {
		parts = append(parts, fee{"new account", feeNewAccount, "if the receiver is not active yet"})
	}
	if tx.frame[rawData].present() {
		parts = append(parts, fee{"memo", feeMemo, ""})
	}
	if len(tx.signatures) > 0 || tx.envelope[contractPermission].present() {
		parts = append(parts, fee{"multi-signature", feeMultiSign, "with two signatures and more"})
	}
	if limit := tx.frame[rawFeeLimit]; limit.present() && tx.contract.runsCode() {
		parts = append(parts, fee{"energy", limit.number, "the fee limit"})
	}
	return append(parts, fee{"bandwidth", tx.bandwidthFee(), "without staked or free bandwidth"})
}

// bandwidthFee returns the highest cost of the bytes, to which the network adds 64 for
// the result.
func (tx *transaction) bandwidthFee() int64 {
	size := tx.signedSize() + resultRoom/2
	if tx.envelope[contractPermission].present() {
		size += (maxSignatures - 1 - len(tx.signatures)) * (len(signatureHeader) + signatureSize)
	}
	return max(int64(size)*feePerByte, feeNewAccountNet)
}

// maximumFee returns the sum of all fees, in sun. Its parts are below 2^63 each, and
// all but fee_limit are small.
func (tx *transaction) maximumFee() (sun uint64) {
	for _, charged := range tx.fees() {
		sun += uint64(charged.sun)
	}
	return sun
}

// otherFees returns the sum of the fees that fee_limit does not bound, in sun.
func (tx *transaction) otherFees() uint64 {
	if limit := tx.frame[rawFeeLimit]; limit.present() && tx.contract.runsCode() {
		return tx.maximumFee() - uint64(limit.number)
	}
	return tx.maximumFee()
}

// feeSummary shows the most that the transaction can cost, and its parts.
func (tx *transaction) feeSummary() []chains.Field {
	fields := []chains.Field{chains.AmountUint("at most", tx.maximumFee(), sunDecimals, "TRX")}
	for _, charged := range tx.fees() {
		fields = append(fields, chains.AmountUint(charged.label, uint64(charged.sun), sunDecimals,
			"TRX").WithNote(charged.note))
	}
	return []chains.Field{chains.List("fee", fields...)}
}
