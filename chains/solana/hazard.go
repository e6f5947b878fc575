package solana

// The hazards of Solana transactions.
const (
	// HazardZeroBlockhash: the blockhash is zero, a placeholder. The network never accepts such a
	// transaction, and filling in the blockhash invalidates the signature.
	HazardZeroBlockhash = "solana/zero-blockhash"

	// HazardNoComputeBudget: the compute-unit limit is zero, or, in a v1 transaction, the limit for
	// the data of the accounts that it loads. A limit that is left out means zero in v1, unlike in
	// earlier versions. The transaction fails, and pays its fee.
	HazardNoComputeBudget = "solana/no-compute-budget"

	// HazardDurableNonce: the transaction uses a durable nonce whose authority is not the signer.
	// It can be sent at any time until that authority advances the nonce.
	HazardDurableNonce = "solana/durable-nonce"

	// HazardHighFee: the fee that the signer may pay exceeds Limits.MaxFee.
	HazardHighFee = "solana/high-fee"

	// HazardBlindCall: the signature authorizes an instruction that is not decoded.
	HazardBlindCall = "solana/blind-call"

	// HazardAuthorityChange: something that the signer controls passes into another
	// party's control.
	HazardAuthorityChange = "solana/authority-change"

	// HazardUnlimitedApproval: a delegate may take 2^63 units of a token or more.
	HazardUnlimitedApproval = "solana/unlimited-approval"

	// HazardUnresolvedAccount: a party of an effect is an entry of a lookup table
	// that is not known. The transaction does not contain its address, and the entry
	// may be added after signing.
	HazardUnresolvedAccount = "solana/unresolved-account"

	// HazardBurn: the signer's tokens or SOL are destroyed, or go to an account that no one can
	// spend from: the incinerator, a program, a sysvar, a mint, or a token account of these.
	HazardBurn = "solana/burn"
)

func (Chain) HazardNames() []string {
	return []string{HazardZeroBlockhash, HazardNoComputeBudget, HazardDurableNonce, HazardHighFee, HazardBlindCall,
		HazardAuthorityChange, HazardUnlimitedApproval, HazardUnresolvedAccount, HazardBurn}
}
