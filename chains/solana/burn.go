package solana

import (
	"maps"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// findBurns turns transfers to accounts that no one can spend from into burns.
func (m *message) findBurns(effects []effect) {
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
		if e.lost = m.lost(e.To.Address(), mints); e.lost != "" {
			e.Kind = chains.KindBurn
		}
	}
}

// lost describes an account from which no one can spend: an entry of the table, a program
// that the transaction calls, or the associated token account that an entry of the table, or
// a mint itself, has for a known mint or one of the mints. For any other account it returns "".
func (m *message) lost(address []byte, mints []string) string {
	if what, ok := unspendable[[keySize]byte(address)]; ok {
		return what
	}
	for _, in := range m.instructions {
		if *m.programID(in) == [keySize]byte(address) {
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

// lostTokens remembers, for each other mint, the associated accounts of both token programs that
// belong to unspendable accounts. Deriving those of one mint takes about a millisecond.
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
