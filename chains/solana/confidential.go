package solana

import "github.com/countersign-dev/countersign/chains"

// Sizes, in bytes, and names of the instructions of confidential balances. Amounts are encrypted
// and proofs are in other instructions or accounts, so the amount of an effect is unknown. The
// place of the authority depends on where the proofs are, so any signer counts as the authority.
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

// confidentialAccounts is the most accounts that a confidential transfer has without a transfer
// hook: two token accounts, the mint, the instructions sysvar or five proofs, and the authority.
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
	0: describe("InitializeConfidentialTransferMint", "mint", nonZeroKey("authority"),
		boolean("new accounts approved"), fixedBytes("auditor's ElGamal key", elGamalKey)).does(sets("authority")...),
	1: describe("UpdateConfidentialTransferMint", "mint, !authority, signer*", boolean("new accounts approved"),
		fixedBytes("auditor's ElGamal key", elGamalKey)).does(sets()...),
	2: describe("ConfigureConfidentialTransferAccount", "account, mint, further account*",
		fixedBytes("decryptable zero balance", decryptable), u64("most pending credits"), i8(proofOffset)).
		byAnySigner().does(changes("account")...),
	3: describe("ApproveConfidentialTransferAccount", "account, mint, !authority, signer*").
		does(changes("account")...),
	4: describe("EmptyConfidentialTransferAccount", "account, further account*", i8(proofOffset)).byAnySigner().
		does(changes("account")...),
	5: describe("ConfidentialDeposit", "account, mint, !authority, signer*", checkedTokens).does(withinAccount...),
	6: describe("ConfidentialWithdraw", "account, mint, further account*", checkedTokens,
		fixedBytes("new decryptable balance", decryptable), i8("equality "+proofOffset), i8("range "+proofOffset)).
		byAnySigner().does(withinAccount...),
	7: describe("ConfidentialTransfer", "from, mint, to, further account*", confidentialBurn...).byAnySigner().
		does(hiddenTransfer...),
	8: describe("ApplyConfidentialPendingBalance", "account, !authority, signer*", u64("expected pending credits"),
		fixedBytes("new decryptable balance", decryptable)).does(changes("account")...),
	9:  describe("EnableConfidentialCredits", "account, !authority, signer*").does(changes("account")...),
	10: describe("DisableConfidentialCredits", "account, !authority, signer*").does(changes("account")...),
	11: describe("EnableNonConfidentialCredits", "account, !authority, signer*").does(changes("account")...),
	12: describe("DisableNonConfidentialCredits", "account, !authority, signer*").does(changes("account")...),
	13: describe("ConfidentialTransferWithFee", "from, mint, to, further account*",
		append(confidentialBurn[:5:5], i8("fee sigma "+proofOffset), i8("fee validity "+proofOffset),
			i8("range "+proofOffset))...).byAnySigner().does(hiddenTransfer...),
	14: describe("ConfigureConfidentialTransferAccountWithRegistry",
		"account, mint, ElGamal registry, ?!payer, ?system program").
		does(settings("account"), pays("payer", "account", mostAccountData).provided("payer")),
}

var confidentialTransferFee = map[uint32]*layout{
	0: describe("InitializeConfidentialTransferFee", "mint", nonZeroKey("authority"),
		fixedBytes("withdraw ElGamal key", elGamalKey)).does(sets("authority")...),
	1: describe("WithdrawWithheldTokensFromMintForConfidentialTransferFee", "mint, to, further account*",
		i8(proofOffset), fixedBytes("new decryptable balance", decryptable)).byAnySigner().does(withheld...),
	2: describe("WithdrawWithheldTokensFromAccountsForConfidentialTransferFee", "mint, to, further account*",
		u8("number of sources"), i8(proofOffset), fixedBytes("new decryptable balance", decryptable)).byAnySigner().
		does(withheld...),
	3: describe("HarvestWithheldTokensToMintForConfidentialTransferFee", "mint, source*").does(harvests...),
	4: describe("EnableHarvestToMint", "mint, !authority, signer*").does(sets()...),
	5: describe("DisableHarvestToMint", "mint, !authority, signer*").does(sets()...),
}

var confidentialMintBurn = map[uint32]*layout{
	0: describe("InitializeConfidentialMintBurn", "mint", fixedBytes("supply ElGamal key", elGamalKey),
		fixedBytes("decryptable supply", decryptable)).does(sets()...),
	1: describe("RotateSupplyElGamalPubkey", "mint, further account*", fixedBytes("supply ElGamal key", elGamalKey),
		i8(proofOffset)).byAnySigner().does(sets()...),
	2: describe("UpdateDecryptableSupply", "mint, !authority, signer*", fixedBytes("decryptable supply", decryptable)).
		does(sets()...),
	3: describe("ConfidentialMint", "to, mint, further account*", confidentialBurn...).byAnySigner().
		does(template{kind: chains.KindMint, to: "to", asset: "mint", amount: unstated}),
	4: describe("ConfidentialBurn", "account, mint, further account*", confidentialBurn...).byAnySigner().
		does(hiddenBurn...),
	5: describe("ApplyConfidentialPendingBurn", "mint, !authority, signer*").does(sets()...),
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

const lastProof = 12

func init() {
	zkProofProgram.layouts = map[uint32]*layout{0: describe("CloseContextState",
		"context state, lamports to, !context authority").does(sends("context state", "lamports to", wholeBalance))}
	for kind := uint32(1); kind <= lastProof; kind++ {
		zkProofProgram.layouts[kind] = describe("VerifyProof", "?context state, ?context authority",
			restBytes("proof")).initializing("context state").
			does(template{kind: chains.KindSettings, account: "context state", given: "context state"},
				givesAny("context state", "context authority"))
	}
}
