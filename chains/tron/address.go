package tron

import (
	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/keystore"
)

// AddressFormat is the API's name for the format of an address here.
const AddressFormat = "ADDRESS_FORMAT_TRON"

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
