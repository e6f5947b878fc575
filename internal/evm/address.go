// Package evm holds what transactions of Ethereum, Tempo and Tron share: addresses,
// access lists, signed authorizations, and the decoding of contract calls.
package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// AddressFormat is the API's name for the format of an address here.
const AddressFormat = "ADDRESS_FORMAT_ETHEREUM"

// Address is the last 20 bytes of Keccak-256 over a public key, or the address of a
// contract.
type Address [20]byte

// Create2 returns the address of a contract that a factory creates with CREATE2
// (EIP-1014), given the 32-byte salt.
func Create2(factory Address, salt, initCode []byte) Address {
	return Address(crypto.CreateAddress2(common.Address(factory), [32]byte(salt), crypto.Keccak256(initCode)))
}

// AddressOf returns the address of a secp256k1 key.
func AddressOf(pub keystore.PublicKey) Address { return pub.KeccakAddress() }

// Owner returns where to look for the key at an address of 20 bytes. ok is false for
// any other length.
func Owner(address []byte) (locator keystore.Locator, ok bool) {
	if len(address) != len(Address{}) {
		return locator, false
	}
	return keystore.ByKeccak([20]byte(address)), true
}

// Addresses returns the one address of a secp256k1 key.
func Addresses(pub keystore.PublicKey) []chains.Address {
	if pub.Curve() != keystore.CurveSecp256k1 {
		return nil
	}
	return []chains.Address{{Format: AddressFormat, Address: AddressOf(pub).String()}}
}
