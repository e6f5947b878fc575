package evm

import (
	"strconv"
	"sync"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Network is what distinguishes the chains that share the contract ABI.
type Network struct {
	ID       string // CAIP-2, such as "eip155:1"; "eip155" or "tron" where the bytes name no network
	ChainID  uint64 // of EIP-155; 0: none, and no address is of a known contract
	Symbol   string // ticker of the native asset
	Decimals int    // of the native asset

	// Prefix precedes the 20 bytes in the binary form of an address, such as Tron's 41;
	// empty for none. Notation formats that form; nil for EIP-55.
	Prefix   []byte
	Notation *chains.Notation

	// Lenient decodes addresses and short integers as contracts of compilers before
	// Solidity 0.5 do: bits above their width are ignored.
	Lenient bool

	// Tag is a byte with which clients may precede the 20 bytes of an address in an
	// argument, such as Tron's 41; 0 for none.
	Tag byte

	// Signer is the account that makes the transactions, if it is known. It decides what
	// comes back to the signer.
	Signer *Address

	signer chains.Party // at it, once asked for

	// Own reports whether an account is one of our own besides the signer; nil if none is.
	Own func(chains.Party) bool

	// Brief omits the arguments of functions from effects, and the fields that show calls:
	// hazards show neither.
	Brief bool

	room []chains.Effect // see Room; nil: none is lent

	// Standards has the names of standards that differ from those on Ethereum.
	Standards map[string]string
}

// NetworkID returns the CAIP-2 id of a chain; "eip155" for 0, which names none.
func NetworkID(chainID uint64) string {
	if chainID == 0 {
		return "eip155"
	}
	if id, ok := networkIDs()[chainID]; ok {
		return id
	}
	return networkID(chainID)
}

// networkIDs has the ids of the chains whose fees are known, which are those of most
// transactions.
var networkIDs = sync.OnceValue(func() map[uint64]string {
	ids := map[uint64]string{1: networkID(1)}
	for chainID := range maxFees {
		ids[chainID] = networkID(chainID)
	}
	return ids
})

func networkID(chainID uint64) string {
	var room [7 + 20]byte
	return string(strconv.AppendUint(append(room[:0], "eip155:"...), chainID, 10))
}

// NamedNetwork returns what people call a chain with a CAIP-2 id, and the unit of its fees.
// The chains of Tempo, which take transactions of Ethereum's types 0, 1, 2 and 4, have
// no native asset: gas is priced in 10⁻¹⁸ US dollars.
func NamedNetwork(chainID uint64, id string) chains.Network {
	if name := TempoName(chainID); name != "" {
		return chains.Network{Name: name, Symbol: "USD", Decimals: 18}
	}
	return chains.NetworkOf(id)
}

// OnChain returns the network of a chain of EIP-155, whose CAIP-2 id says more than its
// number if that has over 64 bits, and is 0.
func OnChain(chainID uint64, id string) *Network {
	return &Network{ID: id, ChainID: chainID, Symbol: NamedNetwork(chainID, id).Symbol, Decimals: 18}
}

// Briefly returns the network for effects from which only hazards are derived.
func (n *Network) Briefly() *Network {
	brief := *n
	brief.Brief = true
	return &brief
}

func (n *Network) standard(name string) string {
	if own, ok := n.Standards[name]; ok {
		return own
	}
	return name
}

// eip55 formats the 20 bytes of an address with the checksum of EIP-55.
var eip55 = &chains.Notation{Text: func(address []byte) string { return Address(address).String() }}

// MadeBy sets the account that makes the transactions, where another one than the key's does:
// the key only pays the fee.
func (n *Network) MadeBy(account Address) { n.Signer, n.signer = &account, chains.Party{} }

// Party returns the account at an address.
func (n *Network) Party(address Address) chains.Party {
	if n.Signer == nil || address != *n.Signer {
		return n.party(address)
	}
	if n.signer.IsNone() {
		n.signer = n.party(address)
	}
	return n.signer
}

func (n *Network) party(address Address) chains.Party {
	var room [len(address) + 1]byte
	notation := n.Notation
	if notation == nil {
		notation = eip55
	}
	return chains.PartyAt(append(append(room[:0], n.Prefix...), address[:]...), notation)
}

// PartyAt returns the party at an address, whose text has the checksum of EIP-55.
func PartyAt(address Address) chains.Party { return new(Network).Party(address) }

// PartyOf returns the party at the address of a secp256k1 key.
func PartyOf(pub keystore.PublicKey) chains.Party { return PartyAt(AddressOf(pub)) }

// text returns an address in the notation of the network.
func (n *Network) text(address Address) string {
	if n.Notation == nil {
		return address.String()
	}
	return n.Party(address).String()
}
