package evm

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/countersign-dev/countersign/internal/keccak"
)

// addressDigits is the number of hex digits of an address.
const addressDigits = 40

// rightCase reports whether the digits of an address are all in one case or have
// the checksum of EIP-55.
func rightCase(digits string) bool {
	if rightChecksums.has(digits) || !mixedCase(digits) {
		return true
	}
	if !checksummed(digits) {
		return false
	}
	rightChecksums.add(digits)
	return true
}

// mixedCase reports whether there are both letters in lower and in upper case.
func mixedCase(digits string) bool {
	var lower, upper bool
	for _, digit := range []byte(digits) {
		lower = lower || digit >= 'a'
		upper = upper || (digit >= 'A' && digit <= 'F')
	}
	return lower && upper
}

// checksummed reports whether the case of each letter is what EIP-55 asks for:
// upper where the nibble at its place in the hash of the lower-case digits is 8
// or more.
func checksummed(digits string) bool {
	var lower [addressDigits]byte
	for i := range lower {
		lower[i] = digits[i]
		if lower[i] >= 'A' {
			lower[i] |= 0x20
		}
	}
	hash := keccak.Sum256(lower[:])
	for i, digit := range []byte(digits) {
		nibble := hash[i/2] >> (4 * (1 - i%2)) & 0x0f
		if digit >= 'A' && (digit < 'a') != (nibble >= 8) {
			return false
		}
	}
	return true
}

// rightChecksums remembers which addresses had the right checksum: to hash an
// address again for each signature costs as much as hashing the transaction.
//
// What is kept of one is 64 bits of a hash with a secret seed, 12 of which say in
// which set. That a mistyped address is taken for one of the two in its set has odds
// of 2^-51, beside those of about 2^-12 that EIP-55 itself has.
var rightChecksums = checksumTable{seed: maphash.MakeSeed()}

type checksumTable struct {
	seed maphash.Seed
	sets [1 << 12]checksumSet // by the low bits of the hash
}

// checksumSet has the newest hash in front, and the one before it. 0 is no hash.
type checksumSet [2]atomic.Uint64

func (t *checksumTable) has(digits string) bool {
	hash := maphash.String(t.seed, digits)
	set := t.set(hash)
	return hash != 0 && (set[0].Load() == hash || set[1].Load() == hash)
}

func (t *checksumTable) add(digits string) {
	hash := maphash.String(t.seed, digits)
	set := t.set(hash)
	set[1].Store(set[0].Swap(hash))
}

func (t *checksumTable) set(hash uint64) *checksumSet { return &t.sets[hash%uint64(len(t.sets))] }
