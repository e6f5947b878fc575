package solana

import "github.com/countersign-dev/countersign/chains"

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
	memoV4ID        = mustKey("Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH") // clients since September 2026
	memoV1ID        = mustKey("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo")
)

// fixedAddresses are the roles that only an account at one of these addresses has.
var fixedAddresses = map[string][][keySize]byte{
	"clock sysvar":              {mustKey("SysvarC1ock11111111111111111111111111111111")},
	"rent sysvar":               {mustKey("SysvarRent111111111111111111111111111111111")},
	"recent blockhashes sysvar": {mustKey("SysvarRecentB1ockHashes11111111111111111111")},
	"stake history sysvar":      {mustKey("SysvarStakeHistory1111111111111111111111111")},
	"slot hashes sysvar":        {mustKey("SysvarS1otHashes111111111111111111111111111")},
	"stake config":              {mustKey("StakeConfig11111111111111111111111111111111")},
	"system program":            {systemID},
	tokenProgramRole:            {tokenID, token2022ID},
}

const tokenProgramRole = "token program"

// unspendable are accounts that no key signs for, so that what they get is lost: what each is, by
// address. SOL that reaches some of them makes the transaction fail instead. The init of programs
// adds those that are decoded, and knownMints the mints of the built-in tokens.
var unspendable = map[[keySize]byte]string{
	mustKey("1nc1nerator11111111111111111111111111111111"): "the incinerator",

	mustKey("NativeLoader1111111111111111111111111111111"): aProgram,
	mustKey("BPFLoader1111111111111111111111111111111111"): aProgram,
	mustKey("BPFLoader2111111111111111111111111111111111"): aProgram,
	mustKey("Feature111111111111111111111111111111111111"): aProgram,
	mustKey("ZkTokenProof1111111111111111111111111111111"): aProgram,
	mustKey("StakeConfig11111111111111111111111111111111"): "the configuration of the Stake program",

	mustKey("Sysvar1111111111111111111111111111111111111"): aSysvar,
	mustKey("SysvarC1ock11111111111111111111111111111111"): aSysvar,
	mustKey("SysvarEpochRewards1111111111111111111111111"): aSysvar,
	mustKey("SysvarEpochSchedu1e111111111111111111111111"): aSysvar,
	mustKey("SysvarFees111111111111111111111111111111111"): aSysvar,
	mustKey("Sysvar1nstructions1111111111111111111111111"): aSysvar,
	mustKey("SysvarLastRestartS1ot1111111111111111111111"): aSysvar,
	mustKey("SysvarRecentB1ockHashes11111111111111111111"): aSysvar,
	mustKey("SysvarRent111111111111111111111111111111111"): aSysvar,
	mustKey("SysvarRewards111111111111111111111111111111"): aSysvar,
	mustKey("SysvarS1otHashes111111111111111111111111111"): aSysvar,
	mustKey("SysvarS1otHistory11111111111111111111111111"): aSysvar,
	mustKey("SysvarStakeHistory1111111111111111111111111"): aSysvar,

	mustKey("So11111111111111111111111111111111111111112"):  aMint,
	mustKey("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9"): aMint, // of wrapped SOL in Token-2022
}

const (
	aProgram = "a program"
	aSysvar  = "a sysvar"
	aMint    = "the mint of a token"
)

// knownMints are the mints among the unspendable accounts: those of wrapped SOL, and of
// the built-in tokens, which it adds to them.
var knownMints = func() (mints []string) {
	for _, token := range chains.ListedTokens() {
		if token.Chain == Name {
			unspendable[mustKey(token.Address)] = aMint
		}
	}
	for address, what := range unspendable {
		if what == aMint {
			mints = append(mints, string(address[:]))
		}
	}
	return mints
}()
