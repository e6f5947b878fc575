package solana

import "github.com/btcsuite/btcd/address/v2/base58"

// keySize is the length in bytes of an address: an Ed25519 public key or an address
// that a program derived.
const keySize = 32

// maxKeyText is the length of the longest base58 form of 32 bytes.
const maxKeyText = 44

func encode58(value []byte) string { return base58.Encode(value) }

// decodeKey decodes the base58 form of exactly 32 bytes. The form is unique: it has one
// leading 1 for each leading zero byte. The length is checked first because the cost
// of decoding is quadratic in it.
func decodeKey(text string) (key [keySize]byte, ok bool) {
	if len(text) < keySize || len(text) > maxKeyText {
		return key, false
	}
	decoded := base58.Decode(text)
	if len(decoded) != keySize {
		return key, false
	}
	return [keySize]byte(decoded), true
}

// mustKey is decodeKey for constants. It panics on anything that is not an address.
func mustKey(text string) [keySize]byte {
	key, ok := decodeKey(text)
	if !ok {
		panic("solana: not an address: " + text)
	}
	return key
}
