// Package evm holds what transactions of Ethereum, Tempo and Tron share: addresses,
// access lists, signed authorizations, and the decoding of contract calls.
package evm

import (
	"encoding/binary"
	"encoding/hex"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/keystore"
)

// Address is the last 20 bytes of Keccak-256 over a public key, or the address of a contract.
type Address [20]byte

// create2Address returns the address of a contract that a factory creates with CREATE2
// (EIP-1014), given the 32-byte salt.
func create2Address(factory Address, salt, initCode []byte) Address {
	return Address(crypto.CreateAddress2(common.Address(factory), [32]byte(salt), crypto.Keccak256(initCode)))
}

// AddressOf returns the address of a secp256k1 key.
func AddressOf(pub keystore.PublicKey) Address { return pub.KeccakAddress() }

// addressDigits is the number of hex digits of an address.
const addressDigits = 2 * len(Address{})

// checksum says which digits of an address in EIP-55 are upper case, if they are letters: bit i
// is set if digit i of the Keccak-256 of the digits in lower case is 8 or more.
type checksum struct {
	address Address
	upper   uint64
}

// checksums are those of recent addresses. A server signs with the same keys again and again,
// and a hash takes longer than anything else that is done with an address. Each address has two
// slots, so that of two that share one both are kept.
var checksums [4096]atomic.Pointer[checksum]

func checksumOf(a Address) uint64 {
	slot := &checksums[int(binary.LittleEndian.Uint16(a[len(a)-2:]))%len(checksums)]
	for range 2 {
		known := slot.Load()
		if known == nil {
			break
		}
		if known.address == a {
			return known.upper
		}
		slot = &checksums[int(binary.LittleEndian.Uint16(a[len(a)-4:]))%len(checksums)]
	}
	var digits [addressDigits]byte
	hex.Encode(digits[:], a[:])
	hash := Keccak256(digits[:])
	fresh := &checksum{address: a}
	for i := range digits {
		if hash[i/2]<<(4*(i%2))&0x80 != 0 {
			fresh.upper |= 1 << i
		}
	}
	slot.Store(fresh)
	return fresh.upper
}

// String returns the address with the checksum of EIP-55.
func (a Address) String() string {
	text := [2 + addressDigits]byte{'0', 'x'}
	digits := text[2:]
	hex.Encode(digits, a[:])
	upper := checksumOf(a)
	for i, digit := range digits {
		digits[i] = digit &^ (digit >> 1 & 0x20 * byte(upper>>i&1)) // bit 6 is set in letters only
	}
	return string(text[:])
}

// ChecksumFits reports whether the 40 hex digits of an address are all in one case, or have
// the checksum of EIP-55.
func ChecksumFits(digits string, address Address) bool {
	var letters, upper uint64 // bit i: digit i is one
	for i := range len(digits) {
		isLetter := uint64(digits[i] >> 6 & 1) // in ASCII, and so bit 5 is lower case
		letters |= isLetter << i
		upper |= isLetter &^ uint64(digits[i]>>5&1) << i
	}
	return upper == 0 || upper == letters || upper == checksumOf(address)&letters
}
