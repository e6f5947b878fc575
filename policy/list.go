package policy

import (
	"slices"
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
	set      map[addressKey]bool
	alike    map[addressKey]bool // addresses of other forms: see barList
	anyChain bool                // where a match refuses, an account is meant on every chain
	wallets  []*address          // of chains whose tokens are held apart

	mu      sync.Mutex
	derived map[string]map[string]bool // the wallets' token accounts, by mint
}

func newAddressList(addresses []*address, anyChain bool) *addressList {
	values := make([]ref.Val, len(addresses))
	l := &addressList{
		set: make(map[addressKey]bool, len(addresses)), alike: map[addressKey]bool{}, anyChain: anyChain,
		derived: map[string]map[string]bool{},
	}
	for i, address := range addresses {
		values[i] = address
		l.set[address.key()] = true
		for _, key := range address.alike(anyChain) {
			l.alike[key] = true
		}
		if address.words.TokenAccounts != nil {
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
		for _, account := range wallet.words.TokenAccounts(wallet.bytes, mint) {
			accounts[account] = true
		}
	}
	if len(l.derived) >= maxDerivedMints {
		clear(l.derived)
	}
	l.derived[mint] = accounts
	return accounts
}

// barList is a list where a match refuses, as in a deny. An address of it stands for every recipient
// that can be computed from it, or from which it can be computed: nobody evades the list by another
// form of its address. Elsewhere an address is itself.
type barList struct{ *addressList }

// Contains implements traits.Container.
func (l barList) Contains(value ref.Val) ref.Val {
	wanted, ok := value.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(value)
	}
	for _, owner := range wanted.owners {
		if l.bars(&address{words: wanted.words, bytes: string(owner.Address()), mint: wanted.mint}) {
			return types.True
		}
	}
	return types.Bool(l.bars(wanted))
}

// bars reports whether an address is listed in some form.
func (l barList) bars(wanted *address) bool {
	if l.holds(wanted) || l.alike[wanted.key()] {
		return true
	}
	for _, key := range wanted.alike(l.anyChain) {
		if l.set[key] || l.alike[key] {
			return true
		}
	}
	said := wanted.words
	if wanted.mint == "" || len(l.wallets) == 0 || len(wanted.bytes) != said.AddressSize {
		return false
	}
	return slices.ContainsFunc(said.TokenAccounts(wanted.bytes, wanted.mint), func(account string) bool {
		return l.set[addressKey{said.Namespace, account}]
	})
}
