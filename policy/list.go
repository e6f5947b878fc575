package policy

import (
	"sync"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/countersign-dev/countersign/internal/source"
)

// maxWallets bounds the addresses in a list of chains whose tokens are held apart, such as
// Solana: for each, token accounts have to be derived.
const maxWallets = 512

// list is a list of addresses of the file.
type list struct {
	place     source.Place
	addresses []*address
	value     *addressList
	used      bool
	shared    bool // with other organizations: it may have no address that is of use here
}

// addressList is a list of addresses with constant-time membership.
type addressList struct {
	traits.Lister
	set      map[string]bool
	alike    map[string]bool // addresses of other forms: see barList
	anyChain bool            // where a match refuses, an account is meant on every chain
	wallets  []*address      // of chains whose tokens are held apart

	mu      sync.Mutex
	derived map[string]map[string]bool // the wallets' token accounts, by mint
}

func newAddressList(addresses []*address, anyChain bool) *addressList {
	values := make([]ref.Val, len(addresses))
	l := &addressList{
		set: make(map[string]bool, len(addresses)), alike: map[string]bool{}, anyChain: anyChain,
		derived: map[string]map[string]bool{},
	}
	for i, address := range addresses {
		values[i] = address
		l.set[address.key()] = true
		for _, key := range address.alike(anyChain) {
			l.alike[key] = true
		}
		if words().holdsTokensApart(address.namespace) {
			l.wallets = append(l.wallets, address)
		}
	}
	l.Lister = newList(values)
	return l
}

// Contains implements traits.Container.
func (l *addressList) Contains(value ref.Val) ref.Val {
	wanted, ok := value.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(value)
	}
	return types.Bool(l.holds(wanted))
}

func (l *addressList) holds(wanted *address) bool {
	return l.set[wanted.key()] || wanted.mint != "" && len(l.wallets) > 0 && l.tokenAccounts(wanted.mint)[wanted.bytes]
}

// maxDerivedMints bounds the mints that a list caches token accounts for.
const maxDerivedMints = 64

// tokenAccounts returns the wallets' associated token accounts for a mint.
func (l *addressList) tokenAccounts(mint string) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if accounts, ok := l.derived[mint]; ok {
		return accounts
	}
	accounts := map[string]bool{}
	for _, wallet := range l.wallets {
		for _, account := range words().namespaces[wallet.namespace].TokenAccounts(wallet.bytes, mint) {
			accounts[account] = true
		}
	}
	if len(l.derived) >= maxDerivedMints {
		clear(l.derived)
	}
	l.derived[mint] = accounts
	return accounts
}
