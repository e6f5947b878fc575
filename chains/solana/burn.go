package solana

import (
	"maps"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// unspendable are accounts that no key signs for, so that what they get is lost: what
// each is, by address. SOL that reaches some of them makes the transaction fail instead.
// The init of programs adds those that are decoded, and knownMints the mints of the
// built-in tokens.
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

// burnt turns transfers to accounts that no one can spend from into burns.
func (t *Transaction) burnt(effects []effect) {
	var mints []string
	searched := false
	for i := range effects {
		e := &effects[i]
		if e.Kind != chains.KindTransfer || e.To.Address() == nil {
			continue
		}
		if !searched {
			mints, searched = unknownMints(effects), true
		}
		if e.lost = t.lost(e.To.Address(), mints); e.lost != "" {
			e.Kind = chains.KindBurn
		}
	}
}

// lost describes an account from which no one can spend: an entry of the table, a program
// that the transaction calls, or the associated token account that an entry of the table, or
// a mint itself, has for a known mint or one of the mints. For any other account it returns "".
func (t *Transaction) lost(address []byte, mints []string) string {
	if what, ok := unspendable[[keySize]byte(address)]; ok {
		return what
	}
	for _, in := range t.instructions {
		if *t.programID(in) == [keySize]byte(address) {
			return aProgram
		}
	}
	if what, ok := lostKnown()[string(address)]; ok {
		return "the token account of " + what
	}
	for _, mint := range mints {
		if what, ok := lostTokens.of(mint)[string(address)]; ok {
			return "the token account of " + what
		}
	}
	return ""
}

// unknownMints returns the mints that effects name, without those that are known.
func unknownMints(effects []effect) (mints []string) {
	for i := range effects {
		if mint := effects[i].Asset.Token.Address(); len(mint) == keySize {
			mints = appendUnknown(mints, string(mint))
		}
		for _, arg := range effects[i].Args {
			if mint := base58.Decode(arg.Value); arg.Name == "mint" && len(mint) == keySize {
				mints = appendUnknown(mints, string(mint))
			}
		}
	}
	return mints
}

func appendUnknown(list []string, text string) []string {
	if slices.Contains(list, text) || slices.Contains(knownMints, text) {
		return list
	}
	return append(list, text)
}

// maxLostMints bounds the memory of lostTokens to some 500 KiB.
const maxLostMints = 64

// lostKnown are those of lostTokens of all known mints together.
var lostKnown = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, mint := range knownMints {
		maps.Copy(all, lostOf(mint))
	}
	return all
})

// lostTokens remembers, for each other mint, the associated accounts of both token programs
// that belong to unspendable accounts. Deriving those of one mint takes about a
// millisecond.
var lostTokens = lostAccounts{byMint: map[string]map[string]string{}}

type lostAccounts struct {
	sync.Mutex
	byMint map[string]map[string]string
}

func (l *lostAccounts) of(mint string) map[string]string {
	l.Lock()
	defer l.Unlock()
	if accounts, ok := l.byMint[mint]; ok {
		return accounts
	}
	accounts := lostOf(mint)
	if len(l.byMint) >= maxLostMints {
		clear(l.byMint)
	}
	l.byMint[mint] = accounts
	return accounts
}

// lostOf derives them for one mint.
func lostOf(mint string) map[string]string {
	accounts := map[string]string{}
	for _, account := range tokenaccount.Of(mint, mint) {
		accounts[account] = "its own mint"
	}
	for owner, what := range unspendable {
		for _, account := range tokenaccount.Of(string(owner[:]), mint) {
			accounts[account] = what
		}
	}
	return accounts
}
