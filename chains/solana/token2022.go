package solana

import (
	"maps"
)

// token2022Program is Token-2022: SPL Token's instructions, those of its extensions, and
// those of the token metadata and token group interfaces, which it implements.
var token2022Program = &program{name: "Token-2022", tagSize: 1, standard: splToken2022}

// init fills in the table, whose entries refer to the program.
func init() {
	table := tokenLayouts(len(authorityTypes))
	maps.Copy(table, token2022Extensions)
	token2022Program.layouts = layouts(table)
	token2022Program.tagged = tokenInterfaces
	token2022Program.decode = decodeToken
}

// token2022Extensions are the instructions that only Token-2022 has. An authority or
// address of 32 zero bytes means none.
var token2022Extensions = map[uint32]*layout{
	25: {name: "InitializeMintCloseAuthority", accounts: "mint",
		arguments: []argument{optional("close authority", key("close authority"))}, effects: sets("close authority")},
	26: {name: "TransferFeeExtension", nested: transferFee},
	27: {name: "ConfidentialTransferExtension", nested: confidentialTransfer},
	28: {name: "DefaultAccountStateExtension", nested: map[uint32]*layout{
		0: {name: "InitializeDefaultAccountState", accounts: "mint", arguments: []argument{accountState},
			effects: sets()},
		1: {name: "UpdateDefaultAccountState", accounts: "mint, !freeze authority, signer*",
			arguments: []argument{accountState}, effects: sets()},
	}},
	29: {name: "Reallocate", accounts: "account, !payer, system program, !owner, signer*",
		arguments: []argument{restU16s("extension type")},
		effects:   append(changes("account"), pays("payer", "account", mostAccountData))},
	30: {name: "MemoTransferExtension", nested: switchedOnAccount("RequiredMemoTransfers")},
	31: {name: "CreateNativeMint", accounts: "!payer, mint, system program",
		effects: []template{pays("payer", "mint", mintData)}},
	32: {name: "InitializeNonTransferableMint", accounts: "mint", effects: sets()},
	33: {name: "InterestBearingMintExtension", nested: map[uint32]*layout{
		0: {name: "InitializeInterestBearingMint", accounts: "mint",
			arguments: []argument{nonZeroKey("rate authority"), i16("rate in basis points")},
			effects:   sets("rate authority")},
		1: {name: "UpdateInterestRate", accounts: "mint, !rate authority, signer*",
			arguments: []argument{i16("rate in basis points")}, effects: sets()},
	}},
	34: {name: "CpiGuardExtension", nested: switchedOnAccount("CpiGuard")},
	35: {name: "InitializePermanentDelegate", accounts: "mint",
		arguments: []argument{key("permanent delegate")}, effects: sets("permanent delegate")},
	36: {name: "TransferHookExtension", nested: hooks(pointer("TransferHook", "hook program"))},
	37: {name: "ConfidentialTransferFeeExtension", nested: confidentialTransferFee},
	39: {name: "MetadataPointerExtension", nested: pointer("MetadataPointer", "metadata address")},
	40: {name: "GroupPointerExtension", nested: pointer("GroupPointer", "group address")},
	41: {name: "GroupMemberPointerExtension", nested: pointer("GroupMemberPointer", "member address")},
	42: {name: "ConfidentialMintBurnExtension", nested: confidentialMintBurn},
	43: {name: "ScaledUiAmountExtension", nested: map[uint32]*layout{
		0: {name: "InitializeScaledUiAmount", accounts: "mint",
			arguments: []argument{nonZeroKey("authority"), f64("multiplier")}, effects: sets("authority")},
		1: {name: "UpdateMultiplier", accounts: "mint, !authority, signer*",
			arguments: []argument{f64("multiplier"), unixTime("effective from")}, effects: sets()},
	}},
	44: {name: "PausableExtension", nested: map[uint32]*layout{
		0: {name: "InitializePausable", accounts: "mint", arguments: []argument{nonZeroKey("pause authority")},
			effects: sets("pause authority")},
		1: {name: "Pause", accounts: "mint, !pause authority, signer*", effects: pauses},
		2: {name: "Resume", accounts: "mint, !pause authority, signer*", effects: pauses},
	}},
	46: {name: "PermissionedBurnExtension", nested: map[uint32]*layout{
		0: {name: "InitializePermissionedBurn", accounts: "mint", arguments: []argument{key("burn authority")},
			effects: sets("burn authority")},
		1: {name: "PermissionedBurn", accounts: "account, mint, !burn authority, !authority, signer*",
			arguments: []argument{tokens("amount")}, effects: burns},
		2: {name: "PermissionedBurnChecked", accounts: "account, mint, !burn authority, !authority, signer*",
			arguments: []argument{checkedTokens}, effects: burns},
		3: {name: "PermissionedConfidentialBurn", accounts: "account, mint, further account*", anySigner: true,
			arguments: confidentialBurn, effects: hiddenBurn},
	}},
}

var pauses = []template{freezes("pause authority", "mint")}

var transferFee = map[uint32]*layout{
	0: {name: "InitializeTransferFeeConfig", accounts: "mint",
		arguments: []argument{
			optional("fee authority", key("fee authority")),
			optional("withdraw authority", key("withdraw authority")),
			u16("fee in basis points"), tokens("maximum fee"),
		}, effects: sets("fee authority", "withdraw authority")},
	1: {name: "TransferCheckedWithFee", accounts: "from, mint, to, !authority, signer*",
		arguments: []argument{checkedWithFee}, effects: tokensMove("mint")},
	2: {name: "WithdrawWithheldTokensFromMint", accounts: "mint, to, !withdraw authority, signer*", effects: withheld},
	3: {name: "WithdrawWithheldTokensFromAccounts", accounts: "mint, to, !withdraw authority, signer or source*",
		anySigner: true,
		arguments: []argument{u8("number of sources")}, effects: withheld},
	4: {name: "HarvestWithheldTokensToMint", accounts: "mint, source*", effects: harvests},
	5: {name: "SetTransferFee", accounts: "mint, !fee authority, signer*",
		arguments: []argument{u16("fee in basis points"), tokens("maximum fee")}, effects: sets()},
}

var accountState = oneOf("account state", 1, "Uninitialized", "Initialized", "Frozen")

// switchedOnAccount is an extension that an owner switches on and off.
func switchedOnAccount(what string) map[uint32]*layout {
	return map[uint32]*layout{
		0: {name: "Enable" + what, accounts: "account, !owner, signer*", effects: changes("account")},
		1: {name: "Disable" + what, accounts: "account, !owner, signer*", effects: changes("account")},
	}
}

// pointer is an extension by which a mint points to an address.
func pointer(what, label string) map[uint32]*layout {
	return map[uint32]*layout{
		0: {name: "Initialize" + what, accounts: "mint",
			arguments: []argument{nonZeroKey("authority"), nonZeroKey(label)}, effects: sets("authority")},
		1: {name: "Update" + what, accounts: "mint, !authority, signer*",
			arguments: []argument{nonZeroKey(label)}, effects: sets()},
	}
}

// hooks is a pointer to the program that every transfer of the mint calls.
func hooks(forms map[uint32]*layout) map[uint32]*layout {
	forms[1].effects[0].with = func(r *reader, e *effect) {
		if hook := r.party("hook program"); !hook.IsNone() {
			e.danger, e.detail = HazardAuthorityChange,
				"every transfer of "+partyText(e.Account)+" needs the consent of program "+partyText(hook)
		}
	}
	return forms
}
