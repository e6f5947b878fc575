package evm

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
)

// addressDigits is the number of hex digits of an address.
const addressDigits = 40

// CheckSpelling refuses an address that was mistyped: one has its digits all in one
// case, or the checksum of EIP-55.
func CheckSpelling(chain, signWith string) error {
	if !isAddress(signWith) {
		return nil
	}
	if _, err := readAddress(signWith); err != nil {
		return badSignWith(chain, err)
	}
	if digits := signWith[2:]; mixedCase(digits) && !checksummed(digits) {
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

// checksummed reports whether letters are in upper case where the Keccak-256 of the
// digits in lower case has a digit of 8 or more, and nowhere else (EIP-55).
func checksummed(digits string) bool {
	var lower [addressDigits]byte
	for i := range lower {
		lower[i] = digits[i] | 0x20 // leaves 0 to 9 as they are
	}
	hash := crypto.Keccak256Hash(lower[:])
	for i := range lower {
		high := hash[i/2]<<(4*(i%2))&0x80 != 0
		if lower[i] >= 'a' && (digits[i] < 'a') != high {
			return false
		}
	}
	return true
}

func badSignWith(chain string, problem error) error {
	return &chains.SignerError{Kind: chains.ErrSignWith, Chain: chain, Problem: problem.Error()}
}
