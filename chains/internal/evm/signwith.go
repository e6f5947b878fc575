package evm

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// addressDigits is the number of hex digits of an address.
const addressDigits = 40

// Signers reads signWith: an address if it starts with 0x, else a key's id. The
// one place to look is put into room, which a transaction has, and returned as a
// slice of it. The checksum is left to Signer and CheckSpelling.
func Signers(chain, signWith string, room *[1]keystore.Locator) ([]keystore.Locator, error) {
	if !isAddress(signWith) {
		room[0] = keystore.ByID(signWith)
		return room[:], nil
	}
	address, err := readAddress(signWith)
	if err != nil {
		return nil, badSignWith(chain, err)
	}
	room[0] = keystore.ByKeccak(address)
	return room[:], nil
}

// Signer returns what the key signs with. It refuses a key that is not at the
// address that signWith is, and an address that CheckSpelling refuses. Where the key
// knows the address as its own nothing is computed: to hash an address costs as much
// as to hash a transaction.
func Signer(chain string, key keystore.Key, signWith string) (keystore.ECDSASigner, error) {
	signer, err := keystore.AsECDSA(key)
	if err != nil || !isAddress(signWith) {
		return signer, err
	}
	if pub := key.PublicKey(); !pub.IsEthereumAddress(signWith) {
		if err := checkIsAt(chain, key, signWith); err != nil {
			return nil, err
		}
	}
	return signer, nil
}

// checkIsAt is Signer's check of an address that is not written as the key's.
func checkIsAt(chain string, key keystore.Key, signWith string) error {
	if err := CheckSpelling(chain, signWith); err != nil {
		return err
	}
	ours := AddressOf(key.PublicKey())
	if wanted, err := readAddress(signWith); err != nil || ours != wanted {
		return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: chain,
			Problem: fmt.Sprintf("key %s is at %s, not at %s", key.ID(), ours, signWith)}
	}
	return nil
}

// CheckSpelling implements chains.Spelled: an address has its digits all in one
// case, or the checksum of EIP-55.
func CheckSpelling(chain, signWith string) error {
	if !isAddress(signWith) {
		return nil
	}
	address, err := readAddress(signWith)
	if err != nil {
		return badSignWith(chain, err)
	}
	if digits := signWith[2:]; mixedCase(digits) && digits != address.String()[2:] {
		return badSignWith(chain, errors.New("the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped"))
	}
	return nil
}

// isAddress tells what is meant as an address from a key's id.
func isAddress(signWith string) bool {
	return len(signWith) >= 2 && signWith[0] == '0' && signWith[1]|0x20 == 'x'
}

// readAddress reads 0x and 40 hex digits in whatever case.
func readAddress(text string) (address Address, err error) {
	digits := text[2:]
	if len(digits) != addressDigits {
		return address, fmt.Errorf("an address has 40 hex digits after 0x, this one %d", len(digits))
	}
	if _, err := hex.Decode(address[:], []byte(digits)); err != nil {
		return Address{}, errors.New("an address has hex digits only after 0x")
	}
	return address, nil
}

// mixedCase reports whether there are letters both in lower and in upper case.
func mixedCase(digits string) bool {
	var lower, upper bool
	for _, digit := range []byte(digits) {
		lower = lower || digit >= 'a'
		upper = upper || (digit >= 'A' && digit <= 'F')
	}
	return lower && upper
}

func badSignWith(chain string, problem error) error {
	return &chains.SignerError{Kind: chains.ErrSignWith, Chain: chain, Problem: problem.Error()}
}
