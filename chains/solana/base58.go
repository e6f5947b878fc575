package solana

import "github.com/btcsuite/btcd/address/v2/base58"

// keySize is the length in bytes of an address: an Ed25519 public key, or an
// address that a program derived.
const keySize = 32

// maxKeyText is the length of the longest base58 form of 32 bytes.
const maxKeyText = 44

// encode58 writes an address, a blockhash or a signature in base58.
func encode58(value []byte) string { return base58.Encode(value) }

// decodeKey reads the base58 form of exactly 32 bytes. There is one for each
// value: as many leading 1 as the value has leading zero bytes. The length is
// checked first, because the cost of base58 is quadratic in it.
func decodeKey(text string) (key [keySize]byte, ok bool) {
	if len(text) < keySize || len(text) > maxKeyText {
		return key, false
	}
	raw := base58.Decode(text) // empty if a character is no digit
	if len(raw) != keySize {
		return key, false
	}
	return [keySize]byte(raw), true
}

// mustKey is decodeKey for the constants of this package.
func mustKey(text string) [keySize]byte {
	key, ok := decodeKey(text)
	if !ok {
		panic("solana: not an address: " + text)
	}
	return key
}
