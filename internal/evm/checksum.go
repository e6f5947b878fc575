package evm

import (
	"encoding/binary"
	"encoding/hex"
	"sync/atomic"
)

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

// checksumOf returns the checksum of an address.
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
		if digit >= 'a' && upper>>i&1 != 0 {
			digits[i] = digit - 'a' + 'A'
		}
	}
	return string(text[:])
}

// ChecksumFits reports whether the 40 hex digits of an address are all in one case, or have
// the checksum of EIP-55.
func ChecksumFits(digits string, address Address) bool {
	if !mixedCase(digits) {
		return true
	}
	upper := checksumOf(address)
	for i := range len(digits) {
		if isLetter := digits[i] >= 'A'; isLetter && digits[i] < 'a' != (upper>>i&1 != 0) {
			return false
		}
	}
	return true
}

// mixedCase reports whether there are letters both in lower and in upper case.
func mixedCase(digits string) bool {
	var lower, upper bool
	for i := range len(digits) {
		lower = lower || digits[i] >= 'a'
		upper = upper || (digits[i] >= 'A' && digits[i] <= 'F')
	}
	return lower && upper
}
