package solana

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// keySize is the length in bytes of an address: an Ed25519 public key or an address
// that a program derived.
const keySize = 32

// maxKeyText is the length of the longest base58 form of 32 bytes.
const maxKeyText = 44

// encode58 writes an address, a blockhash or a signature in base58.
func encode58(value []byte) string { return base58.Encode(value) }

// decodeKey decodes the base58 form of exactly 32 bytes. The form is unique: it has one
// leading 1 for each leading zero byte. The length is checked first because the cost
// of decoding is quadratic in it. It is base58.Decode without a big.Int: each request names
// an address.
func decodeKey(text string) (key [keySize]byte, ok bool) {
	if len(text) < keySize || len(text) > maxKeyText {
		return key, false
	}
	var words number
	for rest := text; rest != ""; {
		scale, digits := uint64(1), uint64(0) // as many digits as fit into a word
		for ; rest != "" && scale < math.MaxUint64/58/58; rest = rest[1:] {
			digit := digits58[rest[0]]
			if digit < 0 {
				return key, false
			}
			scale, digits = scale*58, digits*58+uint64(digit)
		}
		if !words.append(scale, digits) {
			return key, false
		}
	}
	for i, word := range words {
		binary.BigEndian.PutUint64(key[keySize-8*(i+1):], word)
	}
	if leading(text, '1') != leading(key[:], 0) {
		return [keySize]byte{}, false
	}
	return key, true
}

// number is a number of as many bits as a key, the last word first.
type number [keySize / 8]uint64

// append multiplies the number by scale and adds digits, which are less than scale. It
// reports whether the result fits.
func (n *number) append(scale, digits uint64) bool {
	carry := digits
	for i, word := range n {
		high, low := bits.Mul64(word, scale)
		sum, over := bits.Add64(low, carry, 0)
		n[i], carry = sum, high+over
	}
	return carry == 0
}

// leading returns how often a text begins with a byte.
func leading[Text string | []byte](text Text, first byte) (count int) {
	for count < len(text) && text[count] == first {
		count++
	}
	return count
}

// digits58 are the values of the digits of base58, −1 for other bytes.
var digits58 = func() (values [256]int8) {
	for i := range values {
		values[i] = -1
	}
	for i, digit := range []byte("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz") {
		values[digit] = int8(i)
	}
	return values
}()

// mustKey is decodeKey for constants. It panics on anything that is not an address.
func mustKey(text string) [keySize]byte {
	key, ok := decodeKey(text)
	if !ok {
		panic("solana: not an address: " + text)
	}
	return key
}
