// Package evm holds what transactions of Ethereum and Tempo really share:
// addresses, access lists, signed authorizations, and the reading of contract
// calls.
package evm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/hexwords"
	"github.com/countersign-dev/countersign/keystore"
)

// AddressFormat is the API's name for the format of an address here.
const AddressFormat = "ADDRESS_FORMAT_ETHEREUM"

// Address is the last 20 bytes of Keccak-256 over a public key, or what a
// contract has in its place.
type Address [20]byte

// String returns the address with the checksum of EIP-55.
func (a Address) String() string { return common.Address(a).Hex() }

// AddressOf returns the address of a secp256k1 key.
func AddressOf(pub keystore.PublicKey) Address { return pub.KeccakAddress() }

// Addresses returns the one address that a secp256k1 key has.
func Addresses(pub keystore.PublicKey) []chains.Address {
	if pub.Curve() != keystore.CurveSecp256k1 {
		return nil
	}
	return []chains.Address{{Format: AddressFormat, Address: AddressOf(pub).String()}}
}

// ParseAddress reads an address: 0x and 40 hex digits, all in one case or with
// the checksum of EIP-55. A mixed-case address with another checksum has been
// mistyped and is refused.
func ParseAddress(text string) (address Address, err error) {
	if len(text) < 2 || text[0] != '0' || text[1]|0x20 != 'x' {
		return address, errors.New("an address starts with 0x")
	}
	digits := text[2:]
	if len(digits) != addressDigits {
		return address, fmt.Errorf("an address has 40 hex digits after 0x, this one %d", len(digits))
	}
	if !hexwords.Decode(address[:], digits) {
		return Address{}, errors.New("an address has hex digits only after 0x")
	}
	if !rightCase(digits) {
		return Address{}, errors.New("the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped")
	}
	return address, nil
}

// Signers reads signWith: an address if it starts with 0x, else a key's id. The
// one place to look is put into room, which a transaction has, and returned as a
// slice of it.
func Signers(chain, signWith string, room *[1]keystore.Locator) ([]keystore.Locator, error) {
	if !strings.HasPrefix(signWith, "0x") && !strings.HasPrefix(signWith, "0X") {
		room[0] = keystore.ByID(signWith)
		return room[:], nil
	}
	address, err := ParseAddress(signWith)
	if err != nil {
		return nil, &chains.SignerError{Kind: chains.ErrSignWith, Chain: chain, Problem: err.Error()}
	}
	room[0] = keystore.ByKeccak(address)
	return room[:], nil
}
