package solana

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// keySize is the length in bytes of an address: an Ed25519 public key, or an
// address that a program derived.
const keySize = 32

// encode58 writes an address, a blockhash or a signature in base58.
func encode58(value []byte) string { return base58.Encode(value) }

// decodeKey reads the base58 form of exactly 32 bytes. There is one for each
// value: as many leading 1 as the value has leading zero bytes.
//
// It stands on every signing path, where the base58 of btcd, which works with
// big integers and allocates five times, would cost a good part of the budget.
func decodeKey(text string) (key [keySize]byte, ok bool) {
	if len(text) < keySize || len(text) > maxKeyText {
		return key, false
	}
	var limbs [4]uint64 // the lowest first
	for rest := text; rest != ""; {
		chunk, factor := uint64(0), uint64(1)
		size := min(len(rest), 10) // 58^10 is below 2^64
		for i := range size {
			digit := digits58[rest[i]]
			if digit < 0 {
				return key, false
			}
			chunk, factor = chunk*58+uint64(digit), factor*58
		}
		if !multiplyAdd(&limbs, factor, chunk) {
			return key, false
		}
		rest = rest[size:]
	}
	for i, limb := range limbs {
		binary.BigEndian.PutUint64(key[keySize-8*(i+1):], limb)
	}
	ones := len(text) - len(strings.TrimLeft(text, "1"))
	zeros := keySize - len(bytes.TrimLeft(key[:], "\x00"))
	return key, ones == zeros
}

// maxKeyText is the length of the longest base58 form of 32 bytes.
const maxKeyText = 44

// multiplyAdd computes limbs·factor + chunk and reports whether it fits.
func multiplyAdd(limbs *[4]uint64, factor, chunk uint64) bool {
	carry := chunk
	for i := range limbs {
		high, low := bits.Mul64(limbs[i], factor)
		sum, over := bits.Add64(low, carry, 0)
		limbs[i], carry = sum, high+over
	}
	return carry == 0
}

const alphabet58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// digits58 is the value of each base58 digit, −1 for other bytes.
var digits58 = func() (digits [256]int8) {
	for i := range digits {
		digits[i] = -1
	}
	for i := range len(alphabet58) {
		digits[alphabet58[i]] = int8(i)
	}
	return digits
}()

// mustKey is decodeKey for the constants of this package.
func mustKey(text string) [keySize]byte {
	key, ok := decodeKey(text)
	if !ok {
		panic("solana: not an address: " + text)
	}
	return key
}
