package solana

import "github.com/countersign-dev/countersign/chains"

// Sizes, in bytes, and names of the instructions of confidential balances. Amounts are
// encrypted and proofs are in other instructions or accounts, so the amount of an effect
// is unknown. The place of the authority depends on where the proofs are, so any signer
// counts as the authority.
const (
	cipherSize  = 64 // an ElGamal ciphertext
	decryptable = 36 // a balance encrypted with AES for the owner
	elGamalKey  = 32
	proofOffset = "proof instruction offset"
)

// hiddenTransfer moves an encrypted amount. The mint's transfer hook may be called, with
// accounts that cannot be distinguished from those of the proofs.
var hiddenTransfer = []template{
	moves("from", "to", "mint", unstated),
	{kind: chains.KindCall, with: hook.with,
		when: func(r *reader) bool { return len(r.roles) > confidentialAccounts }},
}

// confidentialAccounts is the most accounts that a confidential transfer has without a
// transfer hook: two token accounts, the mint, the instructions sysvar or five proofs,
// and the authority.
const confidentialAccounts = 10

var hiddenBurn = []template{{kind: chains.KindBurn, from: "account", asset: "mint", amount: unstated}}

// withinAccount moves tokens between the public and the encrypted balance of one account.
var withinAccount = []template{moves("account", "account", "mint", "amount")}

var confidentialBurn = []argument{
	fixedBytes("new decryptable balance", decryptable), fixedBytes("amount for the auditor, low", cipherSize),
	fixedBytes("amount for the auditor, high", cipherSize), i8("equality " + proofOffset),
	i8("validity " + proofOffset), i8("range " + proofOffset),
}

var confidentialTransfer = map[uint32]*layout{
	0: {name: "InitializeConfidentialTransferMint", accounts: "mint",
		arguments: []argument{nonZeroKey("authority"), boolean("new accounts approved"),
			fixedBytes("auditor's ElGamal key", elGamalKey)}, effects: sets("authority")},
	1: {name: "UpdateConfidentialTransferMint", accounts: "mint, !authority, signer*",
		arguments: []argument{boolean("new accounts approved"), fixedBytes("auditor's ElGamal key", elGamalKey)},
		effects:   sets()},
	2: {name: "ConfigureConfidentialTransferAccount", accounts: "account, mint, further account*", anySigner: true,
		arguments: []argument{fixedBytes("decryptable zero balance", decryptable), u64("most pending credits"),
			i8(proofOffset)}, effects: changes("account")},
	3: {name: "ApproveConfidentialTransferAccount", accounts: "account, mint, !authority, signer*",
		effects: changes("account")},
	4: {name: "EmptyConfidentialTransferAccount", accounts: "account, further account*", anySigner: true,
		arguments: []argument{i8(proofOffset)}, effects: changes("account")},
	5: {name: "ConfidentialDeposit", accounts: "account, mint, !authority, signer*",
		arguments: []argument{checkedTokens}, effects: withinAccount},
	6: {name: "ConfidentialWithdraw", accounts: "account, mint, further account*", anySigner: true,
		arguments: []argument{checkedTokens, fixedBytes("new decryptable balance", decryptable),
			i8("equality " + proofOffset), i8("range " + proofOffset)},
		effects: withinAccount},
	7: {name: "ConfidentialTransfer", accounts: "from, mint, to, further account*", anySigner: true,
		arguments: confidentialBurn, effects: hiddenTransfer},
	8: {name: "ApplyConfidentialPendingBalance", accounts: "account, !authority, signer*",
		arguments: []argument{u64("expected pending credits"), fixedBytes("new decryptable balance", decryptable)},
		effects:   changes("account")},
	9:  {name: "EnableConfidentialCredits", accounts: "account, !authority, signer*", effects: changes("account")},
	10: {name: "DisableConfidentialCredits", accounts: "account, !authority, signer*", effects: changes("account")},
	11: {name: "EnableNonConfidentialCredits", accounts: "account, !authority, signer*", effects: changes("account")},
	12: {name: "DisableNonConfidentialCredits", accounts: "account, !authority, signer*", effects: changes("account")},
	13: {name: "ConfidentialTransferWithFee", accounts: "from, mint, to, further account*", anySigner: true,
		arguments: append(confidentialBurn[:5:5], i8("fee sigma "+proofOffset), i8("fee validity "+proofOffset),
			i8("range "+proofOffset)), effects: hiddenTransfer},
	14: {name: "ConfigureConfidentialTransferAccountWithRegistry",
		accounts: "account, mint, ElGamal registry, ?!payer, ?system program",
		effects:  append(changes("account"), paysIfGiven("payer", "account", mostAccountData))},
}

var confidentialTransferFee = map[uint32]*layout{
	0: {name: "InitializeConfidentialTransferFee", accounts: "mint",
		arguments: []argument{nonZeroKey("authority"), fixedBytes("withdraw ElGamal key", elGamalKey)},
		effects:   sets("authority")},
	1: {name: "WithdrawWithheldTokensFromMintForConfidentialTransferFee", accounts: "mint, to, further account*",
		anySigner: true,
		arguments: []argument{i8(proofOffset), fixedBytes("new decryptable balance", decryptable)}, effects: withheld},
	2: {name: "WithdrawWithheldTokensFromAccountsForConfidentialTransferFee", accounts: "mint, to, further account*",
		anySigner: true,
		arguments: []argument{u8("number of sources"), i8(proofOffset),
			fixedBytes("new decryptable balance", decryptable)}, effects: withheld},
	3: {name: "HarvestWithheldTokensToMintForConfidentialTransferFee", accounts: "mint, source*", effects: harvests},
	4: {name: "EnableHarvestToMint", accounts: "mint, !authority, signer*", effects: sets()},
	5: {name: "DisableHarvestToMint", accounts: "mint, !authority, signer*", effects: sets()},
}

var confidentialMintBurn = map[uint32]*layout{
	0: {name: "InitializeConfidentialMintBurn", accounts: "mint",
		arguments: []argument{fixedBytes("supply ElGamal key", elGamalKey),
			fixedBytes("decryptable supply", decryptable)}, effects: sets()},
	1: {name: "RotateSupplyElGamalPubkey", accounts: "mint, further account*", anySigner: true,
		arguments: []argument{fixedBytes("supply ElGamal key", elGamalKey), i8(proofOffset)}, effects: sets()},
	2: {name: "UpdateDecryptableSupply", accounts: "mint, !authority, signer*",
		arguments: []argument{fixedBytes("decryptable supply", decryptable)}, effects: sets()},
	3: {name: "ConfidentialMint", accounts: "to, mint, further account*", anySigner: true, arguments: confidentialBurn,
		effects: []template{{kind: chains.KindMint, to: "to", asset: "mint", amount: unstated}}},
	4: {name: "ConfidentialBurn", accounts: "account, mint, further account*", anySigner: true,
		arguments: confidentialBurn, effects: hiddenBurn},
	5: {name: "ApplyConfidentialPendingBurn", accounts: "mint, !authority, signer*", effects: sets()},
}

// zkProofProgram verifies the proofs of confidential balances (ZK ElGamal Proof). What a proof
// proves can be kept in an account, which its authority can close; nothing else changes. A
// proof is in the data, or, if that has 5 bytes, in the first account, at a u32 offset.
var zkProofProgram = &program{name: "ZK ElGamal Proof", tagSize: 1, decode: func(r *reader) {
	if r.left() == 5 && len(r.given) > 0 {
		r.showAccount("proof account", r.given[0])
		r.given = r.given[1:]
	}
	r.decodeLayout()
}}

// lastProof is the number of the last kind of proof.
const lastProof = 12

func init() {
	zkProofProgram.layouts = map[uint32]*layout{0: {name: "CloseContextState",
		accounts: "context state, lamports to, !context authority",
		effects:  []template{sends("context state", "lamports to", wholeBalance)}}}
	for kind := uint32(1); kind <= lastProof; kind++ {
		zkProofProgram.layouts[kind] = &layout{name: "VerifyProof", initializes: "context state",
			accounts:  "?context state, ?context authority",
			arguments: []argument{restBytes("proof")},
			effects: []template{{kind: chains.KindSettings, account: "context state", given: "context state"},
				givesAny("context state", "context authority")}}
	}
	layouts(zkProofProgram.layouts)
}
