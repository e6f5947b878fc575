package solana

import "github.com/countersign-dev/countersign/chains"

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
