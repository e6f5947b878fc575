package tron

import (
	"errors"
	"strings"
)

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// base58Digits are the values of the alphabet's characters, −1 for others.
var base58Digits = func() (digits [256]int8) {
	for char := range digits {
		digits[char] = int8(strings.IndexByte(base58Alphabet, byte(char)))
	}
	return digits
}()

// decodeBase58 reads the 25 bytes of an address and its checksum, big-endian.
// It allocates nothing, where a decoder for any length makes half a dozen
// numbers: every request with an address comes by here. Five digits at a time,
// which is what 32 bits hold, are multiplied into the number.
func decodeBase58(text string) (decoded [addressSize + checksumSize]byte, err error) {
	var limbs [7]uint32 // little-endian: 28 bytes
	for len(text) > 0 {
		group := text[:min(5, len(text))]
		text = text[len(group):]
		carry, scale := uint64(0), uint64(1)
		for _, char := range []byte(group) {
			digit := base58Digits[char]
			if digit < 0 {
				return decoded, errBase58Character
			}
			carry, scale = carry*58+uint64(digit), scale*58
		}
		for i := range limbs {
			carry += uint64(limbs[i]) * scale
			limbs[i], carry = uint32(carry), carry>>32
		}
		if carry != 0 {
			return decoded, errBase58Length
		}
	}
	if limbs[6]>>8 != 0 {
		return decoded, errBase58Length
	}
	for i := range decoded {
		place := len(decoded) - 1 - i
		decoded[i] = byte(limbs[place/4] >> (8 * (place % 4)))
	}
	return decoded, nil
}

var (
	errBase58Character = errors.New("it has a character that base58 does not have (0, O, I, l)")
	errBase58Length    = errors.New("it is longer than an address")
)
