package evm

// Network is what differs between the chains that share the contract ABI.
type Network struct {
	ID       string // CAIP-2, such as "eip155:1"; "eip155" or "tron" where the bytes name no network
	ChainID  uint64 // of EIP-155; 0: none, and no contract is known by address
	Symbol   string // ticker of the native asset
	Decimals int    // of the native asset

	// Text and Bytes write an address in the form of the chain's tools and in
	// its binary form. Nil: EIP-55, and the 20 bytes.
	Text  func(Address) string
	Bytes func(Address) []byte

	// Lenient decodes addresses and short integers as contracts of compilers
	// before Solidity 0.5 do: what stands above their width is ignored.
	Lenient bool

	// Tag is a byte that clients may put in front of the 20 bytes of an address in
	// an argument, such as Tron's 41; 0: none.
	Tag byte

	// Brief leaves the texts of addresses and the arguments of functions out of
	// effects: for a decision that shows nothing.
	Brief bool

	// Standards has the names of standards that are called otherwise than on
	// Ethereum.
	Standards map[string]string
}

func (n *Network) standard(name string) string {
	if own, ok := n.Standards[name]; ok {
		return own
	}
	return name
}

func (n *Network) text(a Address) string {
	if n.Brief {
		return ""
	}
	if n.Text == nil {
		return a.String()
	}
	return n.Text(a)
}

func (n *Network) binary(a Address) []byte {
	if n.Bytes == nil {
		return a[:]
	}
	return n.Bytes(a)
}
