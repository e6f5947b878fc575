package evm

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Network says where contracts run: what distinguishes the chains that share the contract ABI. It
// does not change.
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

	// Standards has the names of standards that differ from those on Ethereum.
	Standards map[string]string
}

// eip55 formats the 20 bytes of an address with the checksum of EIP-55.
var eip55 = &chains.Notation{Text: func(address []byte) string { return Address(address).String() }}

// Party returns the account at an address.
func (n *Network) Party(address Address) chains.Party {
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

func (n *Network) text(address Address) string {
	if n.Notation == nil {
		return address.String()
	}
	return n.Party(address).String()
}

// addressOf returns the 20 bytes of a party's address; ok is false if it has none.
func addressOf(p chains.Party) (parsed Address, ok bool) {
	address := p.Address()
	if len(address) < len(parsed) {
		return parsed, false
	}
	return Address(address[len(address)-len(parsed):]), true
}
