package solana

import "github.com/countersign-dev/countersign/chains"

// tokenInterfaces are the instructions of the token metadata and token group
// interfaces. Each begins with the first 8 bytes of the SHA-256 of its name.
var tokenInterfaces = layouts(map[[discriminatorSize]byte]*layout{
	{0xd2, 0xe1, 0x1e, 0xa2, 0x58, 0xb8, 0x4d, 0x8d}: {name: "InitializeTokenMetadata",
		accounts:  "metadata, update authority, mint, !mint authority",
		arguments: []argument{shortText("name"), shortText("symbol"), shortText("uri")},
		effects: []template{settings("metadata"),
			{kind: chains.KindAuthority, from: "mint authority", account: "metadata", to: "update authority",
				given: "update authority"}}},
	{0xdd, 0xe9, 0x31, 0x2d, 0xb5, 0xca, 0xdc, 0xc8}: {name: "UpdateTokenMetadataField",
		accounts:  "metadata, !update authority",
		arguments: []argument{metadataField, shortText("value")}, effects: changes("metadata")},
	{0xea, 0x12, 0x20, 0x38, 0x59, 0x8d, 0x25, 0xb5}: {name: "RemoveTokenMetadataKey",
		accounts:  "metadata, !update authority",
		arguments: []argument{boolean("idempotent"), shortText("key")}, effects: changes("metadata")},
	{0xd7, 0xe4, 0xa6, 0xe4, 0x54, 0x64, 0x56, 0x7b}: {name: "UpdateTokenMetadataUpdateAuthority",
		accounts:  "metadata, !update authority",
		arguments: []argument{nonZeroKey("new update authority")},
		effects:   []template{hands("metadata", "update authority", "new update authority")}},
	{0xfa, 0xa6, 0xb4, 0xfa, 0x0d, 0x0c, 0xb8, 0x46}: {name: "EmitTokenMetadata", inert: true, accounts: "metadata",
		arguments: []argument{optional("start", u64("start")), optional("end", u64("end"))}},
	{0x79, 0x71, 0x6c, 0x27, 0x36, 0x33, 0x00, 0x04}: {name: "InitializeTokenGroup",
		accounts:  "group, mint, !mint authority",
		arguments: []argument{nonZeroKey("update authority"), u64("most members")},
		effects: []template{settings("group"),
			{kind: chains.KindAuthority, from: "mint authority", account: "group", to: "update authority",
				given: "update authority"}}},
	{0x6c, 0x25, 0xab, 0x8f, 0xf8, 0x1e, 0x12, 0x6e}: {name: "UpdateTokenGroupMaxSize",
		accounts:  "group, !update authority",
		arguments: []argument{u64("most members")}, effects: changes("group")},
	{0xa1, 0x69, 0x58, 0x01, 0xed, 0xdd, 0xd8, 0xcb}: {name: "UpdateTokenGroupUpdateAuthority",
		accounts:  "group, !update authority",
		arguments: []argument{nonZeroKey("new update authority")},
		effects:   []template{hands("group", "update authority", "new update authority")}},
	{0x98, 0x20, 0xde, 0xb0, 0xdf, 0xed, 0x74, 0x86}: {name: "InitializeTokenGroupMember",
		accounts: "member, member mint, !member mint authority, group, !group update authority",
		effects:  changes("member", "group")},
})

// metadataField is one of three fields, or a key.
var metadataField = variant("field", nil, named("field", "name"), named("field", "symbol"), named("field", "uri"),
	shortText("key"))
