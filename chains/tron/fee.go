package tron

import "github.com/countersign-dev/countersign/chains"

// The fees that the network burns, in sun: parameters of the chain that its super
// representatives can change, as they are on mainnet in 2026-11. Source: java-tron's
// DynamicPropertiesStore, and the chain's getChainParameters.
const (
	feeWitness       = 9_999_000_000 // AccountUpgradeCost
	feePermissions   = 100_000_000   // UpdateAccountPermissionFee
	feeAssetIssue    = 1_024_000_000 // AssetIssueFee
	feeExchange      = 1_024_000_000 // ExchangeCreateFee
	feeNewAccount    = 1_000_000     // CreateNewAccountFeeInSystemContract
	feeNewAccountNet = 100_000       // CreateAccountFee, in place of the bandwidth
	feeMemo          = 1_000_000     // MemoFee
	feeMultiSign     = 1_000_000     // MultiSignFee, with two signatures and more
	feePerByte       = 1_000         // TransactionFee, where there is no bandwidth
)

// maxFees is how many parts a fee has at most.
const maxFees = 6

// fee is one part of what a transaction costs at most.
type fee struct {
	label string
	sun   int64
	note  string
}

// contractFee is what executing the contract burns, whatever happens else.
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

// fees are the parts of what the transaction can cost. Whether bandwidth has to be
// paid for, and whether a receiver is a new account, is not in the transaction. What
// further signatures cost is counted where the transaction says that there are some;
// elsewhere it is those other parties who authorize it.
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

// bandwidthFee is what the bytes cost, of which the network counts 64 more for the
// result, at most.
func (tx *transaction) bandwidthFee() int64 {
	size := tx.signedSize() + resultRoom/2
	if tx.envelope[contractPermission].present() {
		size += (MaxSignatures - 1 - len(tx.signatures)) * (len(signatureHeader) + signatureSize)
	}
	return max(int64(size)*feePerByte, feeNewAccountNet)
}

// maximumFee is the sum of all fees, in sun. Its parts are below 2^63 each, and all
// but fee_limit small.
func (tx *transaction) maximumFee() (sun uint64) {
	for _, part := range tx.fees() {
		sun += uint64(part.sun)
	}
	return sun
}

// feeSummary tells what the transaction costs at most, and of what.
func (tx *transaction) feeSummary() []chains.Field {
	fields := []chains.Field{chains.AmountUint("at most", tx.maximumFee(), sunDecimals, "TRX")}
	for _, part := range tx.fees() {
		fields = append(fields, chains.AmountUint(part.label, uint64(part.sun), sunDecimals, "TRX").WithNote(part.note))
	}
	return []chains.Field{chains.List("fee", fields...)}
}
