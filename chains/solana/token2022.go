package solana

import (
	"maps"

	"github.com/countersign-dev/countersign/chains"
)

// token2022Program is Token-2022: SPL Token's instructions, those of its extensions, and
// those of the token metadata and token group interfaces, which it implements.
var token2022Program = &program{name: "Token-2022", tagSize: 1, standard: splToken2022}

// init fills in the table, whose entries refer to the program.
func init() {
	table := tokenLayouts(len(authorityTypes))
	maps.Copy(table, token2022Extensions)
	token2022Program.layouts = table
	token2022Program.tagged = tokenInterfaces
	token2022Program.decode = decodeToken
}

// token2022Extensions are the instructions that only Token-2022 has. An authority or
// address of 32 zero bytes means none.
var token2022Extensions = map[uint32]*layout{
	25: describe("InitializeMintCloseAuthority", "mint", optional("close authority", key("close authority"))).
		does(sets("close authority")...),
	26: extension("TransferFeeExtension", transferFee),
	27: extension("ConfidentialTransferExtension", confidentialTransfer),
	28: extension("DefaultAccountStateExtension", map[uint32]*layout{
		0: describe("InitializeDefaultAccountState", "mint", accountState).does(sets()...),
		1: describe("UpdateDefaultAccountState", "mint, !freeze authority, signer*", accountState).does(sets()...),
	}),
	29: describe("Reallocate", "account, !payer, system program, !owner, signer*", restU16s("extension type")).
		does(settings("account"), pays("payer", "account", mostAccountData)),
	30: extension("MemoTransferExtension", switchedOnAccount("RequiredMemoTransfers")),
	31: describe("CreateNativeMint", "!payer, mint, system program").does(pays("payer", "mint", mintData)),
	32: describe("InitializeNonTransferableMint", "mint").does(sets()...),
	33: extension("InterestBearingMintExtension", map[uint32]*layout{
		0: describe("InitializeInterestBearingMint", "mint", nonZeroKey("rate authority"),
			i16("rate in basis points")).does(sets("rate authority")...),
		1: describe("UpdateInterestRate", "mint, !rate authority, signer*", i16("rate in basis points")).
			does(sets()...),
	}),
	34: extension("CpiGuardExtension", switchedOnAccount("CpiGuard")),
	35: describe("InitializePermanentDelegate", "mint", key("permanent delegate")).does(sets("permanent delegate")...),
	36: extension("TransferHookExtension", hooks(pointer("TransferHook", "hook program"))),
	37: extension("ConfidentialTransferFeeExtension", confidentialTransferFee),
	39: extension("MetadataPointerExtension", pointer("MetadataPointer", "metadata address")),
	40: extension("GroupPointerExtension", pointer("GroupPointer", "group address")),
	41: extension("GroupMemberPointerExtension", pointer("GroupMemberPointer", "member address")),
	42: extension("ConfidentialMintBurnExtension", confidentialMintBurn),
	43: extension("ScaledUiAmountExtension", map[uint32]*layout{
		0: describe("InitializeScaledUiAmount", "mint", nonZeroKey("authority"), f64("multiplier")).
			does(sets("authority")...),
		1: describe("UpdateMultiplier", "mint, !authority, signer*", f64("multiplier"), unixTime("effective from")).
			does(sets()...),
	}),
	44: extension("PausableExtension", map[uint32]*layout{
		0: describe("InitializePausable", "mint", nonZeroKey("pause authority")).does(sets("pause authority")...),
		1: describe("Pause", "mint, !pause authority, signer*").does(pauses...),
		2: describe("Resume", "mint, !pause authority, signer*").does(pauses...),
	}),
	46: extension("PermissionedBurnExtension", map[uint32]*layout{
		0: describe("InitializePermissionedBurn", "mint", key("burn authority")).does(sets("burn authority")...),
		1: describe("PermissionedBurn", "account, mint, !burn authority, !authority, signer*", tokens("amount")).
			does(burns...),
		2: describe("PermissionedBurnChecked", "account, mint, !burn authority, !authority, signer*", checkedTokens).
			does(burns...),
		3: describe("PermissionedConfidentialBurn", "account, mint, further account*", confidentialBurn...).
			byAnySigner().does(hiddenBurn...),
	}),
}

var pauses = []template{freezes("pause authority", "mint")}

var transferFee = map[uint32]*layout{
	0: describe("InitializeTransferFeeConfig", "mint", optional("fee authority", key("fee authority")),
		optional("withdraw authority", key("withdraw authority")), u16("fee in basis points"), tokens("maximum fee")).
		does(sets("fee authority", "withdraw authority")...),
	1: describe("TransferCheckedWithFee", "from, mint, to, !authority, signer*", checkedWithFee).
		does(tokensMove("mint", "fee")...),
	2: describe("WithdrawWithheldTokensFromMint", "mint, to, !withdraw authority, signer*").does(withheld...),
	3: describe("WithdrawWithheldTokensFromAccounts", "mint, to, !withdraw authority, signer or source*",
		u8("number of sources")).byAnySigner().does(withheld...),
	4: describe("HarvestWithheldTokensToMint", "mint, source*").does(harvests...),
	5: describe("SetTransferFee", "mint, !fee authority, signer*", u16("fee in basis points"), tokens("maximum fee")).
		does(sets()...),
}

var accountState = oneOf("account state", 1, "Uninitialized", "Initialized", "Frozen")

// switchedOnAccount is an extension that an owner switches on and off.
func switchedOnAccount(what string) map[uint32]*layout {
	return map[uint32]*layout{
		0: describe("Enable"+what, "account, !owner, signer*").does(changes("account")...),
		1: describe("Disable"+what, "account, !owner, signer*").does(changes("account")...),
	}
}

// pointer is an extension by which a mint points to an address.
func pointer(what, label string) map[uint32]*layout {
	return map[uint32]*layout{
		0: describe("Initialize"+what, "mint", nonZeroKey("authority"), nonZeroKey(label)).does(sets("authority")...),
		1: describe("Update"+what, "mint, !authority, signer*", nonZeroKey(label)).does(sets()...),
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

// tokenInterfaces are the instructions of the token metadata and token group
// interfaces. Each begins with the first 8 bytes of the SHA-256 of its name.
var tokenInterfaces = map[[discriminatorSize]byte]*layout{
	{0xd2, 0xe1, 0x1e, 0xa2, 0x58, 0xb8, 0x4d, 0x8d}: describe("InitializeTokenMetadata",
		"metadata, update authority, mint, !mint authority", shortText("name"), shortText("symbol"), shortText("uri")).
		does(settings("metadata"), template{kind: chains.KindAuthority, from: "mint authority", account: "metadata",
			to: "update authority", given: "update authority"}),
	{0xdd, 0xe9, 0x31, 0x2d, 0xb5, 0xca, 0xdc, 0xc8}: describe("UpdateTokenMetadataField",
		"metadata, !update authority", metadataField, shortText("value")).does(changes("metadata")...),
	{0xea, 0x12, 0x20, 0x38, 0x59, 0x8d, 0x25, 0xb5}: describe("RemoveTokenMetadataKey", "metadata, !update authority",
		boolean("idempotent"), shortText("key")).does(changes("metadata")...),
	{0xd7, 0xe4, 0xa6, 0xe4, 0x54, 0x64, 0x56, 0x7b}: describe("UpdateTokenMetadataUpdateAuthority",
		"metadata, !update authority", nonZeroKey("new update authority")).
		does(hands("metadata", "update authority", "new update authority")),
	{0xfa, 0xa6, 0xb4, 0xfa, 0x0d, 0x0c, 0xb8, 0x46}: describe("EmitTokenMetadata", "metadata",
		optional("start", u64("start")), optional("end", u64("end"))).doesNothing(),
	{0x79, 0x71, 0x6c, 0x27, 0x36, 0x33, 0x00, 0x04}: describe("InitializeTokenGroup", "group, mint, !mint authority",
		nonZeroKey("update authority"), u64("most members")).
		does(settings("group"), template{kind: chains.KindAuthority, from: "mint authority", account: "group",
			to: "update authority", given: "update authority"}),
	{0x6c, 0x25, 0xab, 0x8f, 0xf8, 0x1e, 0x12, 0x6e}: describe("UpdateTokenGroupMaxSize", "group, !update authority",
		u64("most members")).does(changes("group")...),
	{0xa1, 0x69, 0x58, 0x01, 0xed, 0xdd, 0xd8, 0xcb}: describe("UpdateTokenGroupUpdateAuthority",
		"group, !update authority", nonZeroKey("new update authority")).
		does(hands("group", "update authority", "new update authority")),
	{0x98, 0x20, 0xde, 0xb0, 0xdf, 0xed, 0x74, 0x86}: describe("InitializeTokenGroupMember",
		"member, member mint, !member mint authority, group, !group update authority").
		does(changes("member", "group")...),
}

// metadataField is one of three fields, or a key.
var metadataField = variant("field", nil, named("field", "name"), named("field", "symbol"), named("field", "uri"),
	shortText("key"))
