package solana

import (
	"maps"

	"github.com/countersign-dev/countersign/chains"
)

func init() {
	maps.Copy(programs, map[[keySize]byte]*program{
		systemID: systemProgram, computeID: computeProgram, stakeID: stakeProgram, voteID: voteProgram,
		lookupTableID: lookupTableProgram, loaderV3ID: loaderV3Program, loaderV4ID: loaderV4Program,
		ed25519ID: ed25519Program, secp256k1ID: secp256k1Program, secp256r1ID: secp256r1Program,
		tokenID: tokenProgram, token2022ID: token2022Program, tokenAccountID: tokenAccountProgram,
		memoID: memoProgram, memoV1ID: memoProgram, memoV4ID: memoProgram, squadsID: squadsProgram,
		tokenMetadataID: tokenMetadataProgram, lighthouseID: lighthouseProgram, configID: configProgram,
		zkProofID: zkProofProgram,
	})
	for id := range programs {
		unspendable[id] = aProgram
	}
}

// The precompiles verify signatures that instructions contain. They change nothing,
// and every signature that they announce is paid for.
var (
	ed25519Program   = precompile("Ed25519 verification")
	secp256k1Program = precompile("secp256k1 verification")
	secp256r1Program = precompile("secp256r1 verification")
)

func precompile(name string) *program {
	verify := describe("Verify", "further account*", u8("signatures"), restBytes("offsets and data")).doesNothing()
	return &program{name: name, decode: func(r *reader) { r.decodeAs(verify) }}
}

// memoProgram writes text into the ledger. All of the data is the text; the accounts
// are its signers.
var memoProgram = &program{name: "Memo", decode: func(r *reader) { r.decodeAs(memoLayout) }}

var memoLayout = describe("Memo", "signer*", restText("memo")).doesNothing()

// configProgram keeps texts, such as that of "solana validator-info publish". All signers
// that the account lists must sign a change, which lists them again.
var configProgram = &program{name: "Config", decode: func(r *reader) { r.decodeAs(storeLayout) }}

var storeLayout = describe("Store", "config account, signer*", configKeys, text("contents")).
	initializing("config account").byAnySigner().
	does(settings("config account"),
		template{kind: chains.KindAuthority, account: "config account", to: "signer", each: "signer"})

// configKeys is a compact-u16 count of addresses, each followed by a u8: whether it signs.
func configKeys(r *reader) {
	count := r.compactU16("keys")
	for i := 0; i < count && r.err == nil; i++ {
		sequence(key("key"), boolean("signs"))(r)
	}
}
