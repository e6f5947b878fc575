package policy

import (
	"sync"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// MaxSolanaWallets is how many addresses of Solana a list can have: each is
// also matched by the token account that belongs to it, which has to be derived.
const MaxSolanaWallets = 512

// list is a list of addresses of the file.
type list struct {
	at        place
	addresses []*address
	value     *addressList
	used      bool
}

// addressList is a list whose membership is one look-up.
type addressList struct {
	traits.Lister
	set     map[string]bool
	wallets []*address // those of Solana

	mu      sync.Mutex
	derived map[string]map[string]bool // by mint: the token accounts of the wallets
}

func newAddressList(addresses []*address) *addressList {
	values := make([]ref.Val, len(addresses))
	made := &addressList{set: make(map[string]bool, len(addresses)), derived: map[string]map[string]bool{}}
	for i, one := range addresses {
		values[i] = one
		made.set[one.key()] = true
		if one.namespace == "solana" {
			made.wallets = append(made.wallets, one)
		}
	}
	made.Lister = types.NewRefValList(types.DefaultTypeAdapter, values)
	return made
}

// Contains implements traits.Container.
func (l *addressList) Contains(value ref.Val) ref.Val {
	one, ok := value.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(value)
	}
	return types.Bool(l.contains(one))
}

func (l *addressList) contains(one *address) bool {
	if l.set[one.key()] {
		return true
	}
	return one.of != nil && len(l.wallets) > 0 && l.tokenAccounts(one.of)[one.of.account]
}

// maxDerivedMints bounds what a list remembers.
const maxDerivedMints = 64

// tokenAccounts returns the associated token accounts of the wallets for a mint.
func (l *addressList) tokenAccounts(of *tokenAccount) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.derived[of.mint]; ok {
		return known
	}
	made := map[string]bool{}
	for _, wallet := range l.wallets {
		for _, account := range of.accountsOf(wallet.bytes) {
			made[account] = true
		}
	}
	if len(l.derived) >= maxDerivedMints {
		clear(l.derived)
	}
	l.derived[of.mint] = made
	return made
}
