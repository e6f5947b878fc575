package policy

import (
	"slices"
	"sync"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
)

// addressType is the type of addresses. They are compared as bytes.
var addressType = types.NewObjectType("address")

// address is an address of a chain in its binary form.
type address struct {
	opaque
	words *chains.Words // of its namespace
	bytes string
	text  string

	// mint is set for a party of a token's effect where tokens are held in accounts of their
	// own, as on Solana. Tokens move between those, while rules name wallets: the address
	// also equals the wallet whose tokens it holds.
	mint     string
	anyChain bool // it is of a list that means it on every chain

	// owners are whose account a recipient is, as far as that is known.
	owners chains.Parties
}

// Equal implements ref.Val. Addresses of different namespaces are never equal.
func (a *address) Equal(other ref.Val) ref.Val {
	b, ok := other.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	alike := a.bytes == b.bytes || a.belongsTo(b) || b.belongsTo(a)
	return types.Bool(a.words.Namespace == b.words.Namespace && alike)
}

// belongsTo reports whether a is an account that holds a wallet's tokens of the mint.
func (a *address) belongsTo(wallet *address) bool {
	return a.mint != "" && a.words.TokenAccounts != nil && len(wallet.bytes) == a.words.AddressSize &&
		slices.Contains(a.words.TokenAccounts(wallet.bytes, a.mint), a.bytes)
}

func (*address) Type() ref.Type { return addressType }

func (a *address) Value() any { return a }

// String returns the address as written.
func (a *address) String() string { return a.text }

func (a *address) party() chains.Party { return chains.PartyWritten([]byte(a.bytes), a.text) }

// addressKey identifies an address in a set: an account that several namespaces share has none.
type addressKey struct{ namespace, bytes string }

func (a *address) key() addressKey { return addressKey{a.words.Namespace, a.bytes} }

// alike returns the keys of the addresses of other forms; with anyChain, those on other chains too.
func (a *address) alike(anyChain bool) (keys []addressKey) {
	said := a.words
	if said.Alike != nil {
		for _, other := range said.Alike([]byte(a.bytes)) {
			keys = append(keys, addressKey{said.Namespace, string(other)})
		}
	}
	if anyChain && said.Account != nil {
		keys = append(keys, addressKey{bytes: string(said.Account([]byte(a.bytes)))})
	}
	return keys
}

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
		values[i], address.anyChain = address, anyChain
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
// that can be computed from it, or from which it can be computed: another form of an address does not
// evade the list. Elsewhere an address is itself.
type barList struct{ *addressList }

func (l barList) Contains(value ref.Val) ref.Val {
	wanted, ok := value.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(value)
	}
	return types.Bool(l.bars(wanted) || slices.ContainsFunc(wanted.owners, func(owner chains.Party) bool {
		return l.bars(&address{words: wanted.words, bytes: string(owner.Address()), mint: wanted.mint})
	}))
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
