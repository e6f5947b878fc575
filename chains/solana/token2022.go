package solana

// token2022Extensions are the instructions of Token-2022 that SPL Token does
// not have. An authority or address of 32 zero bytes means none.
var token2022Extensions = map[uint32]layout{
	25: {name: "InitializeMintCloseAuthority", accounts: "mint",
		arguments: []argument{optional("close authority", key("close authority"))}},
	26: {name: "TransferFeeExtension", nested: transferFee},
	28: {name: "DefaultAccountStateExtension", nested: map[uint32]layout{
		0: {name: "InitializeDefaultAccountState", accounts: "mint", arguments: []argument{accountState}},
		1: {name: "UpdateDefaultAccountState", accounts: "mint, freeze authority, signer*", arguments: []argument{accountState}},
	}},
	29: {name: "Reallocate", accounts: "account, payer, system program, owner, signer*",
		arguments: []argument{restU16s("extension type")}},
	30: {name: "MemoTransferExtension", nested: switchedOnAccount("RequiredMemoTransfers")},
	31: {name: "CreateNativeMint", accounts: "payer, mint, system program"},
	32: {name: "InitializeNonTransferableMint", accounts: "mint"},
	33: {name: "InterestBearingMintExtension", nested: map[uint32]layout{
		0: {name: "InitializeInterestBearingMint", accounts: "mint",
			arguments: []argument{nonZeroKey("rate authority"), i16("rate in basis points")}},
		1: {name: "UpdateInterestRate", accounts: "mint, rate authority, signer*",
			arguments: []argument{i16("rate in basis points")}},
	}},
	34: {name: "CpiGuardExtension", nested: switchedOnAccount("CpiGuard")},
	35: {name: "InitializePermanentDelegate", accounts: "mint",
		arguments: []argument{key("permanent delegate")}},
	36: {name: "TransferHookExtension", nested: pointer("TransferHook", "hook program")},
	39: {name: "MetadataPointerExtension", nested: pointer("MetadataPointer", "metadata address")},
	40: {name: "GroupPointerExtension", nested: pointer("GroupPointer", "group address")},
	41: {name: "GroupMemberPointerExtension", nested: pointer("GroupMemberPointer", "member address")},
	43: {name: "ScaledUiAmountExtension", nested: map[uint32]layout{
		0: {name: "InitializeScaledUiAmount", accounts: "mint",
			arguments: []argument{nonZeroKey("authority"), f64("multiplier")}},
		1: {name: "UpdateMultiplier", accounts: "mint, authority, signer*",
			arguments: []argument{f64("multiplier"), unixTime("effective from")}},
	}},
	44: {name: "PausableExtension", nested: map[uint32]layout{
		0: {name: "InitializePausable", accounts: "mint", arguments: []argument{nonZeroKey("pause authority")}},
		1: {name: "Pause", accounts: "mint, pause authority, signer*"},
		2: {name: "Resume", accounts: "mint, pause authority, signer*"},
	}},
}

var transferFee = map[uint32]layout{
	0: {name: "InitializeTransferFeeConfig", accounts: "mint",
		arguments: []argument{
			optional("fee authority", key("fee authority")),
			optional("withdraw authority", key("withdraw authority")),
			u16("fee in basis points"), tokens("maximum fee"),
		}},
	1: {name: "TransferCheckedWithFee", accounts: "from, mint, to, authority, signer*",
		arguments: []argument{checkedWithFee}},
	2: {name: "WithdrawWithheldTokensFromMint", accounts: "mint, to, withdraw authority, signer*"},
	3: {name: "WithdrawWithheldTokensFromAccounts", accounts: "mint, to, withdraw authority, signer or source*",
		arguments: []argument{u8("number of sources")}},
	4: {name: "HarvestWithheldTokensToMint", accounts: "mint, source*"},
	5: {name: "SetTransferFee", accounts: "mint, fee authority, signer*",
		arguments: []argument{u16("fee in basis points"), tokens("maximum fee")}},
}

var accountState = oneOf("account state", 1, "Uninitialized", "Initialized", "Frozen")

// switchedOnAccount is an extension that an owner switches on and off.
func switchedOnAccount(what string) map[uint32]layout {
	return map[uint32]layout{
		0: {name: "Enable" + what, accounts: "account, owner, signer*"},
		1: {name: "Disable" + what, accounts: "account, owner, signer*"},
	}
}

// pointer is an extension by which a mint points to an address.
func pointer(what, label string) map[uint32]layout {
	return map[uint32]layout{
		0: {name: "Initialize" + what, accounts: "mint",
			arguments: []argument{nonZeroKey("authority"), nonZeroKey(label)}},
		1: {name: "Update" + what, accounts: "mint, authority, signer*",
			arguments: []argument{nonZeroKey(label)}},
	}
}
