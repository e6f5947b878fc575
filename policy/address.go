package policy

import (
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign/chains"
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
	mint string

	// owners are whose account a recipient is, as far as that is known.
	owners chains.Parties
}

// Equal implements ref.Val. Addresses of different namespaces are never equal.
func (a *address) Equal(other ref.Val) ref.Val {
	b, ok := other.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(a.words.Namespace == b.words.Namespace && (a.bytes == b.bytes || a.belongsTo(b) || b.belongsTo(a)))
}

// belongsTo reports whether a is an account that holds a wallet's tokens of the mint.
func (a *address) belongsTo(wallet *address) bool {
	return a.mint != "" && a.words.TokenAccounts != nil && len(wallet.bytes) == a.words.AddressSize &&
		slices.Contains(a.words.TokenAccounts(wallet.bytes, a.mint), a.bytes)
}

// Type implements ref.Val.
func (*address) Type() ref.Type { return addressType }

// Value implements ref.Val.
func (a *address) Value() any { return a }

// String returns the address as written.
func (a *address) String() string { return a.text }

// party returns the address as a party of an effect.
func (a *address) party() chains.Party { return chains.PartyWritten([]byte(a.bytes), a.text) }

// addressKey identifies an address in a set: an account that several namespaces share has none.
type addressKey struct{ namespace, bytes string }

func (a *address) key() addressKey { return addressKey{a.words.Namespace, a.bytes} }

// alike returns the keys of the addresses of other forms; with anyChain, those on other chains
// too.
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
