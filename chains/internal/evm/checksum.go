package evm

import (
	"sync/atomic"

	"github.com/countersign-dev/countersign/internal/keccak"
)

// addressDigits is the number of hex digits of an address.
const addressDigits = 40

// mixedCase reports whether there are both letters in lower and in upper case.
func mixedCase(digits *[addressDigits]byte) bool {
	var lower, upper bool
	for _, digit := range digits {
		lower = lower || digit >= 'a'
		upper = upper || (digit >= 'A' && digit <= 'F')
	}
	return lower && upper
}

// checksummed reports whether the case of each letter is what EIP-55 asks for:
// upper where the nibble at its place in the hash of the lower-case digits is 8
// or more.
func checksummed(digits *[addressDigits]byte) bool {
	lower := *digits
	for i := range lower {
		if lower[i] >= 'A' {
			lower[i] |= 0x20
		}
	}
	hash := keccak.Sum256(lower[:])
	for i, digit := range digits {
		nibble := hash[i/2] >> (4 * (1 - i%2)) & 0x0f
		if digit >= 'A' && (digit < 'a') != (nibble >= 8) {
			return false
		}
	}
	return true
}

// rightChecksums remembers addresses whose checksum was right. Reading and hashing
// an address again for each signature would be a third of what signing a transfer
// costs beside the curve. An address has one slot, by its first digits; another
// one that falls into it takes its place.
var rightChecksums checksumTable

type checksumTable [1 << 13]atomic.Pointer[rightChecksum]

type rightChecksum struct {
	digits  [addressDigits]byte
	address Address
}

// slot is where an address is remembered. What the first bytes are makes no
// difference to it: what is there is compared as a whole.
func (t *checksumTable) slot(digits *[addressDigits]byte) *atomic.Pointer[rightChecksum] {
	index := 0
	for _, digit := range digits[:4] {
		index = index<<4 | int(digit+digit>>6*9)&0x0f // '0' is 0x30, 'A' 0x41, 'a' 0x61
	}
	return &t[index%len(t)]
}
