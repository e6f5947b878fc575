package evm

import (
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// Network is what differs between the chains that share the contract ABI.
type Network struct {
	ID       string // CAIP-2, such as "eip155:1"; "eip155" or "tron" where the bytes name no network
	ChainID  uint64 // of EIP-155; 0: none, and no contract is known by address
	Symbol   string // ticker of the native asset
	Decimals int    // of the native asset

	// Prefix stands in front of the 20 bytes in the binary form of an address, such
	// as Tron's 41; empty: nothing does. Notation writes that form; nil: as EIP-55
	// does.
	Prefix   []byte
	Notation *chains.Notation

	// Lenient decodes addresses and short integers as contracts of compilers
	// before Solidity 0.5 do: what stands above their width is ignored.
	Lenient bool

	// Tag is a byte that clients may put in front of the 20 bytes of an address in
	// an argument, such as Tron's 41; 0: none.
	Tag byte

	// Brief leaves the arguments of functions out of effects: for hazards, which
	// show none.
	Brief bool

	// Standards has the names of standards that are called otherwise than on
	// Ethereum.
	Standards map[string]string
}

// NetworkID returns the CAIP-2 id of a chain; "eip155" for 0, which names none.
func NetworkID(chainID uint64) string {
	if chainID == 0 {
		return "eip155"
	}
	var room [7 + 20]byte
	return string(strconv.AppendUint(append(room[:0], "eip155:"...), chainID, 10))
}

func (n *Network) standard(name string) string {
	if own, ok := n.Standards[name]; ok {
		return own
	}
	return name
}

// eip55 writes the 20 bytes of an address with the checksum of EIP-55.
var eip55 = &chains.Notation{Text: func(address []byte) string { return Address(address).String() }}

// Party is the account at an address.
func (n *Network) Party(at Address) chains.Party {
	var room [len(at) + 1]byte
	notation := n.Notation
	if notation == nil {
		notation = eip55
	}
	return chains.PartyAt(append(append(room[:0], n.Prefix...), at[:]...), notation)
}

// text returns an address in the notation of the network.
func (n *Network) text(at Address) string {
	if n.Notation == nil {
		return at.String()
	}
	return n.Party(at).String()
}
