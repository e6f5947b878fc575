package solana

import (
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// AddressFormat is the API's name for the one form of a Solana address: the public key in base58.
const AddressFormat = "ADDRESS_FORMAT_SOLANA"

// Addresses implements chains.Chain: an Ed25519 key has one address, other keys have none.
func (Chain) Addresses(pub keystore.PublicKey) []chains.Address {
	if pub.Curve() != keystore.CurveEd25519 {
		return nil
	}
	return []chains.Address{{Format: AddressFormat, Address: encode58(pub.Bytes())}}
}

// Locate implements chains.Chain: an address is the public key. No key is found for an
// address that a program derived.
func (Chain) Locate(address []byte) (locator keystore.Locator, ok bool) {
	if len(address) != keySize {
		return locator, false
	}
	return keystore.ByEd25519([keySize]byte(address)), true
}

// addressProblem describes what is wrong with a text that looks like a mistyped
// address. It is empty if the text looks like a key's id.
func addressProblem(text string) string {
	switch {
	case text == "":
		return "empty: pass an address in base58 or a key's id"
	case strings.HasPrefix(text, "0x"):
		return "this looks like an address of another chain: Solana's are base58 without a prefix"
	case strings.ContainsFunc(text, notAlphanumeric):
		return ""
	case len(text) < maxKeyText-1 || len(text) > maxKeyText+1:
		return ""
	}
	if bad := strings.IndexAny(text, "0OIl"); bad >= 0 {
		return "this looks like an address, but " + text[bad:bad+1] + " is not a digit of base58"
	}
	return "this looks like an address, but is not base58 of 32 bytes"
}

func notAlphanumeric(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

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
