package evm

import (
	"encoding/hex"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/signer"
	"github.com/countersign-dev/countersign/keystore"
)

// SignWith names what signs a transaction or a message: the key at an address, or the
// key with an id.
type SignWith struct {
	signer.Place
	chain     string
	text      string
	address   Address
	isAddress bool
}

// ReadSignWith reads signWith: an address if it starts with 0x, else a key's id. The digits of an
// address are all in one case, or have the checksum of EIP-55. The error is a *chains.SignerError.
func ReadSignWith(chain, signWith string) (SignWith, error) {
	s := SignWith{chain: chain, text: signWith}
	if len(signWith) < 2 || signWith[0] != '0' || signWith[1]|0x20 != 'x' {
		s.Place = signer.At(keystore.ByID(signWith))
		return s, nil
	}
	address, problem := readAddress(signWith[2:])
	if problem != "" {
		return s, &chains.SignerError{Kind: chains.ErrSignWith, Chain: chain, Problem: problem}
	}
	s.address, s.isAddress, s.Place = address, true, signer.At(keystore.ByKeccak(address))
	return s, nil
}

// Signer returns the one key that can sign: a secp256k1 key that makes ECDSA signatures, the one at
// the address if signWith is an address. The errors are those of signer.Only.
func (s *SignWith) Signer(keys []keystore.Key) (keystore.ECDSASigner, keystore.Key, error) {
	return signer.Only(s.chain, keys, s.signer)
}

func (s *SignWith) Of(keys []keystore.Key) (keystore.Key, chains.Party, error) {
	return signer.Account(s.chain, keys, s.signer, PartyOf)
}

func (s *SignWith) signer(key keystore.Key) (keystore.ECDSASigner, error) {
	ecdsa, err := keystore.AsECDSA(key)
	if err != nil {
		return nil, err
	}
	if address := AddressOf(key.PublicKey()); s.isAddress && address != s.address {
		return nil, &chains.SignerError{Kind: chains.ErrNotSigner, Chain: s.chain,
			Problem: fmt.Sprintf("key %s is at %s, not at %s", key.ID(), address, s.text)}
	}
	return ecdsa, nil
}

// readAddress reads the digits of an address, or returns what is wrong with them.
func readAddress(digits string) (address Address, problem string) {
	if len(digits) != addressDigits {
		return address, fmt.Sprintf("an address has 40 hex digits after 0x, this one %d", len(digits))
	}
	var text [addressDigits]byte
	copy(text[:], digits)
	if _, err := hex.Decode(address[:], text[:]); err != nil {
		return Address{}, "an address has hex digits only after 0x"
	}
	if !ChecksumFits(digits, address) {
		return Address{}, "the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped"
	}
	return address, ""
}

// AddressFormat is the API's name for the format of an address here.
const AddressFormat = "ADDRESS_FORMAT_ETHEREUM"

// Owner returns where to look for the key at an address of 20 bytes. ok is false for
// any other length.
func Owner(address []byte) (locator keystore.Locator, ok bool) {
	if len(address) != len(Address{}) {
		return locator, false
	}
	return keystore.ByKeccak([20]byte(address)), true
}

// Addresses returns the one address of a secp256k1 key.
func Addresses(pub keystore.PublicKey) []chains.Address {
	if pub.Curve() != keystore.CurveSecp256k1 {
		return nil
	}
	return []chains.Address{{Format: AddressFormat, Address: AddressOf(pub).String()}}
}
