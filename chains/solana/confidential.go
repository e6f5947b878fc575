package solana

import "github.com/countersign-dev/countersign/chains"

// What the instructions of confidential balances share. Amounts are encrypted,
// and proofs are in other instructions or accounts: the effect says that the
// amount is not known. The authority's place depends on where the proofs are, so
// any signer counts as one.
const (
	cipherSize  = 64 // an ElGamal ciphertext
	decryptable = 36 // a balance encrypted with AES for the owner
	elGamalKey  = 32
	proofOffset = "proof instruction offset"
)

// hiddenTransfer moves an encrypted amount. The mint's transfer hook may be
// called, with accounts that cannot be told from those of the proofs.
var hiddenTransfer = []doing{
	{kind: chains.KindTransfer, from: "from", to: "to", asset: "mint", amount: notSaid},
	{kind: chains.KindCall, with: hook.with, when: func(r *reading) bool { return len(r.roles) > confidentialAccounts }},
}

// confidentialAccounts is the most accounts that a confidential transfer has
// without a transfer hook: two token accounts, the mint, the instructions sysvar
// or five proofs, the authority.
const confidentialAccounts = 10

var hiddenBurn = []doing{{kind: chains.KindBurn, from: "account", asset: "mint", amount: notSaid}}

// withinAccount moves tokens between the open and the encrypted balance of one
// account.
var withinAccount = []doing{{kind: chains.KindTransfer, from: "account", to: "account", asset: "mint", amount: "amount"}}

var confidentialBurn = []argument{
	fixedBytes("new decryptable balance", decryptable), fixedBytes("amount for the auditor, low", cipherSize),
	fixedBytes("amount for the auditor, high", cipherSize), i8("equality " + proofOffset), i8("validity " + proofOffset), i8("range " + proofOffset),
}

var confidentialTransfer = map[uint32]*layout{
	0: {name: "InitializeConfidentialTransferMint", accounts: "mint",
		arguments: []argument{nonZeroKey("authority"), boolean("new accounts approved"), fixedBytes("auditor's ElGamal key", elGamalKey)}, does: sets("authority")},
	1: {name: "UpdateConfidentialTransferMint", accounts: "mint, !authority, signer*",
		arguments: []argument{boolean("new accounts approved"), fixedBytes("auditor's ElGamal key", elGamalKey)}, does: sets()},
	2: {name: "ConfigureConfidentialTransferAccount", accounts: "account, mint, further account*", anySigner: true,
		arguments: []argument{fixedBytes("decryptable zero balance", decryptable), u64("most pending credits"), i8(proofOffset)}, does: changes("account")},
	3: {name: "ApproveConfidentialTransferAccount", accounts: "account, mint, !authority, signer*", does: changes("account")},
	4: {name: "EmptyConfidentialTransferAccount", accounts: "account, further account*", anySigner: true,
		arguments: []argument{i8(proofOffset)}, does: changes("account")},
	5: {name: "ConfidentialDeposit", accounts: "account, mint, !authority, signer*",
		arguments: []argument{checkedTokens("amount")}, does: withinAccount},
	6: {name: "ConfidentialWithdraw", accounts: "account, mint, further account*", anySigner: true,
		arguments: []argument{checkedTokens("amount"), fixedBytes("new decryptable balance", decryptable), i8("equality " + proofOffset), i8("range " + proofOffset)},
		does:      withinAccount},
	7: {name: "ConfidentialTransfer", accounts: "from, mint, to, further account*", anySigner: true,
		arguments: confidentialBurn, does: hiddenTransfer},
	8: {name: "ApplyConfidentialPendingBalance", accounts: "account, !authority, signer*",
		arguments: []argument{u64("expected pending credits"), fixedBytes("new decryptable balance", decryptable)}, does: changes("account")},
	9:  {name: "EnableConfidentialCredits", accounts: "account, !authority, signer*", does: changes("account")},
	10: {name: "DisableConfidentialCredits", accounts: "account, !authority, signer*", does: changes("account")},
	11: {name: "EnableNonConfidentialCredits", accounts: "account, !authority, signer*", does: changes("account")},
	12: {name: "DisableNonConfidentialCredits", accounts: "account, !authority, signer*", does: changes("account")},
	13: {name: "ConfidentialTransferWithFee", accounts: "from, mint, to, further account*", anySigner: true,
		arguments: append(confidentialBurn[:5:5], i8("fee sigma "+proofOffset), i8("fee validity "+proofOffset), i8("range "+proofOffset)), does: hiddenTransfer},
	14: {name: "ConfigureConfidentialTransferAccountWithRegistry", accounts: "account, mint, ElGamal registry, ?!payer, ?" + systemRole,
		does: append(changes("account"), paysIfGiven("payer", "account", mostAccountData))},
}

var confidentialTransferFee = map[uint32]*layout{
	0: {name: "InitializeConfidentialTransferFee", accounts: "mint",
		arguments: []argument{nonZeroKey("authority"), fixedBytes("withdraw ElGamal key", elGamalKey)}, does: sets("authority")},
	1: {name: "WithdrawWithheldTokensFromMintForConfidentialTransferFee", accounts: "mint, to, further account*", anySigner: true,
		arguments: []argument{i8(proofOffset), fixedBytes("new decryptable balance", decryptable)}, does: withheld},
	2: {name: "WithdrawWithheldTokensFromAccountsForConfidentialTransferFee", accounts: "mint, to, further account*", anySigner: true,
		arguments: []argument{u8("number of sources"), i8(proofOffset), fixedBytes("new decryptable balance", decryptable)}, does: withheld},
	3: {name: "HarvestWithheldTokensToMintForConfidentialTransferFee", accounts: "mint, source*", does: harvests},
	4: {name: "EnableHarvestToMint", accounts: "mint, !authority, signer*", does: sets()},
	5: {name: "DisableHarvestToMint", accounts: "mint, !authority, signer*", does: sets()},
}

var confidentialMintBurn = map[uint32]*layout{
	0: {name: "InitializeConfidentialMintBurn", accounts: "mint",
		arguments: []argument{fixedBytes("supply ElGamal key", elGamalKey), fixedBytes("decryptable supply", decryptable)}, does: sets()},
	1: {name: "RotateSupplyElGamalPubkey", accounts: "mint, further account*", anySigner: true,
		arguments: []argument{fixedBytes("supply ElGamal key", elGamalKey), i8(proofOffset)}, does: sets()},
	2: {name: "UpdateDecryptableSupply", accounts: "mint, !authority, signer*",
		arguments: []argument{fixedBytes("decryptable supply", decryptable)}, does: sets()},
	3: {name: "ConfidentialMint", accounts: "to, mint, further account*", anySigner: true, arguments: confidentialBurn,
		does: []doing{{kind: chains.KindMint, to: "to", asset: "mint", amount: notSaid}}},
	4: {name: "ConfidentialBurn", accounts: "account, mint, further account*", anySigner: true, arguments: confidentialBurn, does: hiddenBurn},
	5: {name: "ApplyConfidentialPendingBurn", accounts: "mint, !authority, signer*", does: sets()},
}
