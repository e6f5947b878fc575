package solana

import "github.com/countersign-dev/countersign/chains"

// The arguments of Token Metadata, in Borsh.

var nothing = sequence()

// toggle leaves something unchanged, clears it, or sets it.
func toggle(label string, set argument) argument {
	return variant(label, []string{"as it is", "cleared", ""}, nothing, nothing, set)
}

var (
	newUpdateAuthority = optional("new update authority", key("new update authority"))

	collection = sequence(boolean("collection verified"), key("collection"))

	uses = sequence(oneOf("use method", 1, "Burn", "Multiple", "Single"), u64("uses remaining"), u64("uses in total"))

	collectionDetails = variant("collection details", []string{"V1", "V2"}, u64("collection size"),
		fixedBytes("collection details", 8))

	// assetData is the name, symbol, URI of the content, royalty, and creators with their
	// shares in percent.
	assetData = sequence(shortText("name"), shortText("symbol"), shortText("uri"), u16("seller fee in basis points"),
		optional("creators", many("creators",
			sequence(key("creator"), boolean("creator verified"), u8("creator's share")))))

	assetDataV2 = sequence(assetData, optional("collection", collection), optional("uses", uses))

	tokenStandard = oneOf("token standard", 1, "NonFungible", "FungibleAsset", "Fungible", "NonFungibleEdition",
		"ProgrammableNonFungible", "ProgrammableNonFungibleEdition")

	// createdAsset follows the asset's data in CreateV1.
	createdAsset = sequence(boolean("primary sale happened"), boolean("mutable"), tokenStandard,
		optional("collection", collection),
		optional("uses", uses), optional("collection details", collectionDetails),
		optional("rule set", key("rule set")),
		optional("decimals", u8("decimals")),
		optional("print supply",
			variant("print supply", []string{"none", "limited", "unlimited"}, nothing, u64("prints"), nothing)))

	// authorizationData is the input to the rules of a programmable token.
	authorizationData = optional("authorization data", many("entries", sequence(shortText("entry"),
		variant("entry is", []string{"an address", "seeds", "a Merkle proof", "a number"}, key("address"),
			many("seeds", shortBytes("seed")),
			many("proof", fixedBytes("hash", 32)), u64("number")))))
)

// Parts of layouts' accounts.
const (
	ofInstructions = ", system program, instructions sysvar"
	underRules     = ", ?rules program or none, ?rules or none"
	ofCollection   = "collection mint, collection metadata, collection master edition"
)

// updateForms are the forms of Update: by the update authority, or by a delegate, which
// may change less.
var updateForms = func() map[uint32]*layout {
	sale, mutable := optional("primary sale happened", boolean("primary sale happened")),
		optional("mutable", boolean("mutable"))
	details, rules := toggle("collection details", collectionDetails), toggle("rule set", key("rule set"))
	data, standard, item := optional("data", assetData), optional("token standard", tokenStandard),
		toggle("collection", collection)
	whole := []argument{newUpdateAuthority, data, sale, mutable, item, details, toggle("uses", uses), rules}
	forms := map[uint32]*layout{}
	for i, form := range []struct {
		name      string
		arguments []argument
	}{
		{"UpdateV1", whole}, {"UpdateAsUpdateAuthorityV2", append(whole[:len(whole):len(whole)], standard)},
		{"UpdateAsAuthorityItemDelegateV2", []argument{newUpdateAuthority, sale, mutable, standard}},
		{"UpdateAsCollectionDelegateV2", []argument{item}}, {"UpdateAsDataDelegateV2", []argument{data}},
		{"UpdateAsProgrammableConfigDelegateV2", []argument{rules}}, {"UpdateAsDataItemDelegateV2", []argument{data}},
		{"UpdateAsCollectionItemDelegateV2", []argument{item}},
		{"UpdateAsProgrammableConfigItemDelegateV2", []argument{rules}},
	} {
		forms[uint32(i)] = describe(form.name, updatesAccounts, append(form.arguments, authorizationData)...).
			does(updates("authority")...)
	}
	return forms
}()

const updatesAccounts = "!authority, delegate record or none, token or none, mint, metadata, edition or none, !payer" +
	ofInstructions + underRules

// updates changes metadata, and its update authority if a new one is given.
func updates(by string) []template {
	return append(changes("metadata"),
		template{kind: chains.KindAuthority, from: by, account: "metadata", to: "new update authority",
			given: "new update authority"})
}
