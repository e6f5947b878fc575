package tron

import (
	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// addressFormat is the API's name for the format of an address here.
const addressFormat = "ADDRESS_FORMAT_TRON"

const (
	addressPrefix = 0x41 // first byte of every address: "T" in base58check
	addressSize   = 21   // the prefix and the 20 bytes of Keccak-256
	checksumSize  = 4    // of base58check, after them
)

// address is the part after the prefix: the last 20 bytes of Keccak-256 over a public
// key, or the address of a contract.
type address [20]byte

// String returns the address in base58check.
func (a address) String() string { return base58.CheckEncode(a[:], addressPrefix) }

func addressOf(pub keystore.PublicKey) address { return pub.KeccakAddress() }

// readAddress returns the address in a field, which must have 21 bytes.
func readAddress(field []byte) address { return address(field[1:addressSize]) }

// sunDecimals: one TRX is 10^6 sun.
const sunDecimals = 6

// network is the network of Tron's contract calls: Ethereum's contract ABI, with
// addresses in base58check. Some clients precede the 20 bytes of an address in a word
// with the byte 41, which the virtual machine ignores.
var network = &evm.Network{
	ID:       Name,
	Symbol:   "TRX",
	Decimals: sunDecimals,
	Prefix:   []byte{addressPrefix},
	Notation: &chains.Notation{Text: func(binary []byte) string { return readAddress(binary).String() }},
	Lenient:  true,
	Tag:      addressPrefix,
	Standards: map[string]string{
		"ERC-20": "TRC-20", "ERC-721": "TRC-721", "ERC-1155": "TRC-1155",
		"ERC-20 or ERC-721": "TRC-20 or TRC-721", "ERC-721 or ERC-1155": "TRC-721 or TRC-1155",
	},
}

func party(a address) chains.Party { return network.Party(evm.Address(a)) }
