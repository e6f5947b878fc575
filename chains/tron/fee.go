package tron

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

// fee is one part of the most that a transaction can cost.
type fee struct {
	label string
	sun   int64
	note  string
}

// fees returns the parts of the most that the transaction can cost. The transaction
// does not say whether bandwidth has to be paid for, or whether a receiver is a new
// account. Further signatures are counted if the transaction says that there are any;
// otherwise the other parties authorize their cost.
func (tx *transaction) fees() []fee {
	parts := make([]fee, 0, 6) // all that there are
	if sun := tx.contract.burns; sun > 0 {
		parts = append(parts, fee{"burned", sun, "for " + tx.contract.message.name})
	}
	if tx.contract.number == numberTransfer || tx.contract.number == numberTransferAsset {
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
	size := tx.signedSize() + resultRoom/2 // the network adds 64 bytes for the result
	if tx.envelope[contractPermission].present() {
		size += (maxSignatures - 1 - len(tx.signatures)) * (len(signatureHeader) + signatureSize)
	}
	return append(parts, fee{"bandwidth", max(int64(size)*feePerByte, feeNewAccountNet),
		"without staked or free bandwidth"})
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
