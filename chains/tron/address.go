package tron

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// AddressFormat is the API's name for the format of an address here.
const AddressFormat = "ADDRESS_FORMAT_TRON"

const (
	addressPrefix = 0x41 // first byte of every address: "T" in base58check
	addressSize   = 21   // the prefix and the 20 bytes of Keccak-256
)

// address is what stands behind the prefix: the last 20 bytes of Keccak-256
// over a public key, or what a contract has in their place.
type address [20]byte

// String returns the address in base58check.
func (a address) String() string { return base58.CheckEncode(a[:], addressPrefix) }

func addressOf(pub keystore.PublicKey) address { return pub.KeccakAddress() }

// readAddress returns the address in a field that was read: 21 bytes.
func readAddress(field []byte) address { return address(field[1:addressSize]) }

// Signers implements chains.Transaction. signWith is an address in base58check
// (T…), one in hex (41 and 40 digits), or a key's id.
func (tx *transaction) Signers(signWith string) ([]keystore.Locator, error) {
	wanted, isAddress, err := tx.resolve(signWith)
	switch {
	case err != nil:
		return nil, err
	case isAddress:
		tx.locator[0] = keystore.ByKeccak(wanted)
	default:
		tx.locator[0] = keystore.ByID(signWith)
	}
	return tx.locator[:], nil
}

// resolve is parseSignWith, remembered for the calls that follow.
func (tx *transaction) resolve(signWith string) (wanted address, isAddress bool, err error) {
	if tx.signWith.text != signWith || signWith == "" {
		wanted, isAddress, err = parseSignWith(signWith)
		if err != nil {
			return wanted, false, err
		}
		tx.signWith.text, tx.signWith.address, tx.signWith.isAddress = signWith, wanted, isAddress
	}
	return tx.signWith.address, tx.signWith.isAddress, nil
}

// parseSignWith takes what is one character short or long for an address too, so
// that a slip is called a malformed address and not an unknown key.
func parseSignWith(signWith string) (wanted address, isAddress bool, err error) {
	switch {
	case len(signWith) >= 33 && len(signWith) <= 35 && signWith[0] == 'T':
		wanted, err = parseBase58(signWith)
		if err != nil && !isAlphanumeric(signWith) {
			return address{}, false, nil // an id of that length
		}
		return wanted, err == nil, err
	case len(signWith) == 2*addressSize && strings.HasPrefix(signWith, "41") && isHex(signWith):
		_, err = hex.Decode(wanted[:], []byte(signWith[2:]))
		return wanted, err == nil, err
	case strings.HasPrefix(signWith, "0x") && isHex(signWith[2:]):
		return wanted, false, badSignWith("this looks like an Ethereum address; an address of Tron starts with T, or in hex with 41 and has 42 digits without 0x")
	}
	return wanted, false, nil
}

// isAlphanumeric tells a slip in an address from an id.
func isAlphanumeric(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

func parseBase58(text string) (parsed address, err error) {
	decoded, err := decodeBase58(text)
	if err != nil {
		return parsed, badSignWith("%s is no address of Tron, it has been mistyped: %s", text, err)
	}
	first := sha256.Sum256(decoded[:addressSize])
	checksum := sha256.Sum256(first[:])
	switch {
	case [4]byte(checksum[:4]) != [4]byte(decoded[addressSize:]):
		return parsed, badSignWith("the checksum of %s is wrong: it has been mistyped or cut off", text)
	case decoded[0] != addressPrefix:
		return parsed, badSignWith("%s is not an address of Tron: 21 bytes with 41 in front are expected", text)
	}
	return readAddress(decoded[:]), nil
}

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
func decodeBase58(text string) (decoded [addressSize + 4]byte, err error) {
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

func isHex(text string) bool {
	return text != "" && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// SignerView implements chains.Transaction: who signs, and whether that is the
// owner.
func (tx *transaction) SignerView(signer keystore.PublicKey) []chains.Field {
	if signer.Curve() != keystore.CurveSecp256k1 {
		return nil
	}
	field := chains.AddressField("signer", addressOf(signer).String())
	if addressOf(signer) == tx.owner() {
		return []chains.Field{field.WithNote("the owner")}
	}
	return []chains.Field{field.WithNote("not the owner: a co-signer, if the account's permission names it")}
}
