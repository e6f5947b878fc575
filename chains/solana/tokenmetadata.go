package solana

import (
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// tokenMetadataProgram is Metaplex Token Metadata. The number of an instruction is a u8;
// in newer instructions a u8 follows that selects the form of their arguments. Arguments
// are in Borsh. The program's own address stands for an account that is left out.
//
// The instructions that current clients write are decoded. Those that print editions,
// use tokens up, migrate tokens or move them through escrows are not, and neither are
// those that only the program's owner can execute: they are blind calls. The layouts
// follow the program's published source (metaplex-foundation/mpl-token-metadata
// c314930); neither LiteSVM nor an npm package has the program.
var tokenMetadataProgram = &program{name: "Token Metadata", tagSize: 1,
	layouts: authorized(tokenMetadataLayouts)}

// init sets the function, which uses the tables that the program is part of.
func init() {
	tokenMetadataProgram.decode = func(r *reader) {
		r.decodeLeavingOut(tokenMetadataID, func(name string) bool {
			return strings.HasSuffix(name, " or none") || slices.Contains(metadataOptional, name)
		})
	}
}

// metadataOptional are the accounts that may be left out, besides those "or none".
var metadataOptional = []string{"master edition", "edition", "edition marker", "token record",
	"destination token record"}

// authorized makes the first authority of each instruction, not the payer, authorize
// what the instruction does, except for payments.
func authorized(table map[uint32]*layout) map[uint32]*layout {
	for _, l := range table {
		authorized(l.nested)
		l.effects = slices.Clone(l.effects) // layouts share them
		for i := range l.effects {
			if l.effects[i].by == "" && len(l.authorities) > 0 {
				l.effects[i].by = l.authorities[0]
			}
		}
	}
	return table
}

// metadataCost is the program's fee for a metadata account, in lamports. The account
// holds it until the program's owner collects it.
const metadataCost = 10_000_000

// makesMetadata is the cost of a new metadata account, and its authority.
func makesMetadata(by string) []template {
	cost := template{kind: chains.KindCreate, from: "payer", to: "metadata", asset: native, amount: wholeBalance,
		by:   "payer",
		with: func(_ *reader, e *effect) { e.Amount = chains.AtMostUint(rent(mostAccountData*2) + metadataCost) }}
	return []template{cost, {kind: chains.KindAuthority, from: by, account: "metadata", to: "update authority",
		by: by}}
}

// makesEdition creates a master edition, which alone can mint and freeze from then on.
// That takes nothing away if the same instruction creates the mint.
func makesEdition(edition, by string) []template {
	return []template{paysFor(edition),
		{kind: chains.KindAuthority, from: by, account: "mint", to: edition, given: edition, by: by,
			with: func(r *reader, e *effect) { e.owned = e.owned && !madeHere(r) }}}
}

// paysFor is the most that creating or enlarging an optional account costs.
func paysFor(account string) template {
	return pays("payer", account, mostAccountData).provided(account)
}

// ifGiven changes the settings of optional accounts.
func ifGiven(accounts ...string) (list []template) {
	for _, account := range accounts {
		list = append(list, settings(account).provided(account))
	}
	return list
}

// closes sends the lamports of accounts to a party. Without an edition the token is
// fungible, and nothing is closed.
func closes(to string, accounts ...string) (list []template) {
	for _, account := range accounts {
		tpl := sends(account, to, wholeBalance)
		tpl.when = func(r *reader) bool {
			_, edition := r.role("edition")
			_, given := r.role(account)
			return edition && given
		}
		list = append(list, tpl)
	}
	return list
}

// madeHere reports whether the instruction creates the mint, which signs then.
func madeHere(r *reader) bool {
	mint, _ := r.role("mint")
	return mint.signer
}

// newMint is the cost of a mint that the instruction creates, and its authority.
var newMint = func() []template {
	cost, owner := pays("payer", "mint", mintData), gives("mint", "authority")
	cost.when, owner.when = madeHere, madeHere
	return []template{cost, owner}
}()

const (
	collects      = "metadata, !collection authority, !payer, " + ofCollection + ", ?collection authority record"
	setsCollected = "metadata, !collection authority, !payer, update authority, " + ofCollection +
		", ?collection authority record"
	delegated = "delegate record or none, delegate, metadata, master edition or none, " +
		"token record or none, mint, token or none, !authority, !payer" + ofInstructions +
		", token program or none" + underRules
	locksToken = "!authority, token owner or none, token, mint, metadata, edition or none, " +
		"token record or none, !payer" + ofInstructions +
		", token program or none" + underRules
)

var (
	// collected changes an item, and the size of a collection that counts its items.
	collected = changes("metadata", "collection metadata")
	locked    = slices.Concat([]template{freezes("authority", "token")}, ifGiven("token record or none"),
		[]template{paysFor("token record or none")})
)

var tokenMetadataLayouts = map[uint32]*layout{
	4: describe("UpdatePrimarySaleHappenedViaToken", "metadata, !owner, token").does(changes("metadata")...),
	7: describe("SignMetadata", "metadata, !creator").does(changes("metadata")...),
	15: describe("UpdateMetadataAccountV2", "metadata, !update authority", optional("data", assetDataV2),
		newUpdateAuthority, optional("primary sale happened", boolean("primary sale happened")),
		optional("mutable", boolean("mutable"))).does(updates("update authority")...),
	17: describe("CreateMasterEditionV3",
		"edition, mint, !update authority, !mint authority, !payer, metadata, "+
			"token program, system program, ?rent sysvar",
		optional("maximum supply", u64("maximum supply"))).
		does(append(changes("metadata"), makesEdition("edition", "mint authority")...)...),
	18: describe("VerifyCollection", collects).does(collected...),
	22: describe("UnverifyCollection",
		"metadata, !collection authority, "+ofCollection+", ?collection authority record").does(collected...),
	23: describe("ApproveCollectionAuthority",
		"record, new collection authority, !update authority, !payer, metadata, mint, system program, ?rent sysvar").
		does(pays("payer", "record", mostAccountData),
			hands("metadata", "update authority", "new collection authority")),
	24: describe("RevokeCollectionAuthority", "record, delegate, !authority, metadata, mint").
		does(template{kind: chains.KindRevoke, from: "authority", to: "delegate", account: "metadata"},
			sends("record", "authority", wholeBalance)),
	25: describe("SetAndVerifyCollection", setsCollected).does(collected...),
	26: describe("FreezeDelegatedAccount", "!delegate, account, edition, mint, token program").
		does(freezes("delegate", "account")),
	27: describe("ThawDelegatedAccount", "!delegate, account, edition, mint, token program").
		does(freezes("delegate", "account")),
	28: describe("RemoveCreatorVerification", "metadata, !creator").does(changes("metadata")...),
	29: describe("BurnNft", "metadata, !authority, mint, token, edition, token program, ?collection metadata").
		does(slices.Concat([]template{burnsOne}, closes("authority", "metadata", "edition", "token"),
			ifGiven("collection metadata"))...),
	30: describe("VerifySizedCollectionItem", collects).does(collected...),
	31: describe("UnverifySizedCollectionItem", collects).does(collected...),
	32: describe("SetAndVerifySizedCollectionItem", setsCollected).does(collected...),
	33: describe("CreateMetadataAccountV3",
		"metadata, mint, !mint authority, !payer, update authority, system program, ?rent sysvar", assetDataV2,
		boolean("mutable"), optional("collection details", collectionDetails)).
		does(makesMetadata("mint authority")...),
	34: describe("SetCollectionSize", "metadata, !collection authority, mint, ?collection authority record",
		u64("size")).does(changes("metadata")...),
	35: describe("SetTokenStandard", "metadata, !update authority, mint, ?edition").does(changes("metadata")...),
	41: extension("Burn", map[uint32]*layout{0: describe("BurnV1",
		"!authority, collection metadata or none, metadata, edition, mint, token, "+
			"master edition or none, master edition mint or none, "+
			"master edition token or none, edition marker, token record"+ofInstructions+", token program",
		tokens("amount")).does(slices.Concat([]template{{kind: chains.KindBurn, from: "token", asset: "mint",
		amount: "amount"}},
		closes("authority", "metadata", "edition", "token", "token record", "edition marker"),
		ifGiven("collection metadata or none", "master edition or none"))...)}),
	42: extension("Create", map[uint32]*layout{0: describe("CreateV1",
		"metadata, master edition, mint, !authority, !payer, update authority"+ofInstructions+
			", token program or none", assetData, createdAsset).does(slices.Concat(newMint, makesMetadata("authority"),
		makesEdition("master edition", "authority"))...)}),
	43: extension("Mint", map[uint32]*layout{0: describe("MintV1",
		"token, token owner or none, metadata, master edition or none, token record, mint, "+
			"!authority, delegate record or none, !payer"+
			ofInstructions+", token program, associated token program"+underRules, tokens("amount"), authorizationData).
		does(template{kind: chains.KindMint, from: "authority", to: "token", asset: "mint", amount: "amount"},
			pays("payer", "token", mostAccountData), paysFor("token record"))}),
	44: extension("Delegate", delegates),
	45: extension("Revoke", revokes),
	46: extension("Lock", map[uint32]*layout{0: describe("LockV1", locksToken, authorizationData).does(locked...)}),
	47: extension("Unlock", map[uint32]*layout{0: describe("UnlockV1", locksToken, authorizationData).
		does(locked...)}),
	49: extension("Transfer", map[uint32]*layout{0: describe("TransferV1",
		"token, token owner, destination token, destination owner, mint, metadata, "+
			"edition or none, token record, destination token record, !authority, !payer"+
			ofInstructions+", token program, associated token program"+underRules, tokens("amount"), authorizationData).
		does(moves("token", "destination token", "mint", "amount"),
			pays("payer", "destination token", mostAccountData), paysFor("destination token record"),
			template{kind: chains.KindTransfer, from: "token record", to: "payer", asset: native, amount: wholeBalance,
				given: "token record"})}),
	50: extension("Update", updateForms),
	52: extension("Verify", map[uint32]*layout{
		0: describe("VerifyCreatorV1", verifies).does(changes("metadata")...),
		1: describe("VerifyCollectionV1", verifies).does(verified...)}),
	53: extension("Unverify", map[uint32]*layout{
		0: describe("UnverifyCreatorV1", unverifies).does(changes("metadata")...),
		1: describe("UnverifyCollectionV1", unverifies).does(verified...)}),
}

const (
	checked    = "!authority, delegate record or none, metadata, collection mint or none, collection metadata or none"
	unverifies = checked + ofInstructions
	verifies   = checked + ", collection master edition or none" + ofInstructions
)

var (
	verified = append(changes("metadata"), ifGiven("collection metadata or none")...)
	burnsOne = template{kind: chains.KindBurn, from: "token", asset: "mint", amount: unstated,
		with: func(_ *reader, e *effect) { e.Amount = chains.ExactlyUint(1) }}
)

// tokenDelegates are the roles of delegates that may use a token. The others may change
// metadata or print editions.
var tokenDelegates = map[string]bool{"Sale": true, "Transfer": true, "Utility": true, "Staking": true,
	"Standard": true, "LockedTransfer": true, "Migration": true}

var delegateRoles = []string{"Collection", "Sale", "Transfer", "Data", "Utility", "Staking", "Standard",
	"LockedTransfer", "ProgrammableConfig",
	"AuthorityItem", "DataItem", "CollectionItem", "ProgrammableConfigItem", "PrintDelegate"}

// controlOf returns what a delegate that is not a token delegate controls: the metadata,
// or, to print editions, the mint.
func controlOf(role string) string {
	if role == "PrintDelegate" {
		return "mint"
	}
	return "metadata"
}

// delegates are the forms of Delegate, one for each role. A token delegate also becomes the token
// account's delegate; for Utility, the account's close authority goes to the edition.
var delegates = func() map[uint32]*layout {
	forms := map[uint32]*layout{}
	for i, role := range delegateRoles {
		l := describe("Delegate"+role+"V1", delegated)
		switch {
		case role == "Standard":
			l.arguments = []argument{tokens("amount")}
		case role == "LockedTransfer":
			l.arguments = []argument{tokens("amount"), key("locked address"), authorizationData}
		case tokenDelegates[role]:
			l.arguments = []argument{tokens("amount"), authorizationData}
		default:
			l.arguments = []argument{authorizationData}
		}
		l.effects = []template{hands(controlOf(role), "authority", "delegate"), paysFor("delegate record or none")}
		if tokenDelegates[role] {
			l.effects = []template{{kind: chains.KindApprove, from: "token or none", to: "delegate", asset: "mint",
				amount: "amount", args: []string{"locked address"}}, paysFor("token record or none")}
		}
		if role == "Utility" {
			l.effects = append(l.effects, givesAny("token or none", "master edition or none"))
		}
		forms[uint32(i)] = l
	}
	return forms
}()

// revokes are the forms of Revoke, one for each role. The record's rent goes to the payer.
var revokes = func() map[uint32]*layout {
	forms := map[uint32]*layout{}
	for i, role := range slices.Insert(slices.Clone(delegateRoles), 9, "Migration") {
		l := describe("Revoke"+role+"V1", delegated)
		l.effects = []template{{kind: chains.KindRevoke, from: "authority", to: "delegate", account: controlOf(role)},
			{kind: chains.KindTransfer, from: "delegate record or none", to: "payer", asset: native,
				amount: wholeBalance, given: "delegate record or none"}}
		if tokenDelegates[role] {
			l.effects = []template{{kind: chains.KindRevoke, from: "token or none", to: "delegate", asset: "mint"},
				paysFor("token record or none")}
		}
		forms[uint32(i)] = l
	}
	return forms
}()
