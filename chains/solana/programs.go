package solana

import (
	"errors"

	"github.com/countersign-dev/countersign/chains"
)

// The addresses of the programs whose instructions are decoded.
var (
	systemID        = mustKey("11111111111111111111111111111111")
	computeID       = mustKey("ComputeBudget111111111111111111111111111111")
	stakeID         = mustKey("Stake11111111111111111111111111111111111111")
	voteID          = mustKey("Vote111111111111111111111111111111111111111")
	lookupTableID   = mustKey("AddressLookupTab1e1111111111111111111111111")
	loaderV3ID      = mustKey("BPFLoaderUpgradeab1e11111111111111111111111")
	loaderV4ID      = mustKey("LoaderV411111111111111111111111111111111111")
	ed25519ID       = mustKey("Ed25519SigVerify111111111111111111111111111")
	secp256k1ID     = mustKey("KeccakSecp256k11111111111111111111111111111")
	secp256r1ID     = mustKey("Secp256r1SigVerify1111111111111111111111111")
	tokenID         = mustKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	token2022ID     = mustKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
	tokenAccountID  = mustKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
	memoID          = mustKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
	squadsID        = mustKey("SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf")
	tokenMetadataID = mustKey("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
	lighthouseID    = mustKey("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")
	configID        = mustKey("Config1111111111111111111111111111111111111")
	zkProofID       = mustKey("ZkE1Gama1Proof11111111111111111111111111111")
	memoV4ID        = mustKey("Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH") // the same instruction; clients since September 2026
	memoV1ID        = mustKey("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo")
)

// fixedAddresses are the roles that only an account at one of these addresses has.
var fixedAddresses = map[string][][keySize]byte{
	clockSysvar:          {mustKey("SysvarC1ock11111111111111111111111111111111")},
	rentSysvar:           {mustKey("SysvarRent111111111111111111111111111111111")},
	hashesSysvar:         {mustKey("SysvarRecentB1ockHashes11111111111111111111")},
	historySysvar:        {mustKey("SysvarStakeHistory1111111111111111111111111")},
	"slot hashes sysvar": {mustKey("SysvarS1otHashes111111111111111111111111111")},
	stakeConfig:          {mustKey("StakeConfig11111111111111111111111111111111")},
	systemRole:           {systemID},
	tokenProgramRole:     {tokenID, token2022ID},
}

// programs are the programs that are decoded, by address. They are filled in by init
// because stored instructions are decoded by all of them.
var programs map[[keySize]byte]*program

func init() {
	programs = map[[keySize]byte]*program{
		systemID: systemProgram, computeID: computeProgram, stakeID: stakeProgram, voteID: voteProgram,
		lookupTableID: lookupTableProgram, loaderV3ID: loaderV3Program, loaderV4ID: loaderV4Program,
		ed25519ID: ed25519Program, secp256k1ID: secp256k1Program, secp256r1ID: secp256r1Program,
		tokenID: tokenProgram, token2022ID: token2022Program, tokenAccountID: tokenAccountProgram,
		memoID: memoProgram, memoV1ID: memoProgram, memoV4ID: memoProgram, squadsID: squadsProgram,
		tokenMetadataID: tokenMetadataProgram, lighthouseID: lighthouseProgram, configID: configProgram, zkProofID: zkProofProgram,
	}
	for id := range programs {
		unspendable[id] = aProgram
	}
}

// errNotDecoded is the problem of every instruction of a program without a table.
var errNotDecoded = errors.New("not a program that is decoded")

// The precompiles verify signatures that instructions contain. They change nothing,
// and every signature that they announce is paid for.
var (
	ed25519Program   = precompile("Ed25519 verification")
	secp256k1Program = precompile("secp256k1 verification")
	secp256r1Program = precompile("secp256r1 verification")
)

func precompile(name string) *program {
	verify := (&layout{name: "Verify", inert: true, accounts: "further account*",
		arguments: []argument{u8("signatures"), restBytes("offsets and data")}}).prepare()
	return &program{name: name, decode: func(r *reader) error { return r.decodeAs(verify) }}
}

// memoProgram writes text into the ledger. All of the data is the text; the accounts
// are its signers.
var memoProgram = &program{name: "Memo", decode: func(r *reader) error { return r.decodeAs(memoLayout) }}

var memoLayout = (&layout{name: "Memo", inert: true, accounts: "signer*", arguments: []argument{restText("memo")}}).prepare()

// configProgram keeps texts, such as that of "solana validator-info publish". All signers
// that the account lists must sign a change, which lists them again.
var configProgram = &program{name: "Config", decode: func(r *reader) error { return r.decodeAs(storeLayout) }}

var storeLayout = (&layout{name: "Store", initializes: "config account", accounts: "config account, signer*", anySigner: true,
	arguments: []argument{configKeys, text("contents")},
	effects:   append(changes("config account"), template{kind: chains.KindAuthority, account: "config account", to: "signer", each: "signer"}),
}).prepare()

// configKeys is a compact-u16 count of addresses, each followed by a u8: whether it signs.
func configKeys(r *reader) error {
	count, err := r.compactU16("keys")
	for i := 0; err == nil && i < count; i++ {
		err = sequence(key("key"), boolean("signs"))(r)
	}
	return err
}

// The most that accounts whose rent is paid hold, in bytes.
const (
	tokenAccountData = 165
	mostAccountData  = 512 // of Token-2022, with the extensions that a mint can ask for
	mintData         = 512
	tableData        = 56 + 256*keySize
)

// rent returns the most that an account of a size must hold, in lamports: two years at
// 3,480 lamports per byte and year, with 128 bytes of overhead.
func rent(size uint64) uint64 { return (size + 128) * 6_960 }

// pays is the most that creating or enlarging an account costs a payer.
func pays(payer, account string, size uint64) template {
	return template{kind: chains.KindCreate, from: payer, to: account, asset: native, amount: wholeBalance, by: payer,
		with: func(_ *reader, e *effect) { e.Amount = chains.AtMostUint(rent(size)) }}
}

func paysIfGiven(payer, account string, size uint64) template {
	tpl := pays(payer, account, size)
	tpl.given = payer
	return tpl
}
