package evm

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/signer"
	"github.com/countersign-dev/countersign/keystore"
)

// SignWith is what should sign a transaction: the key at an address, or the key
// with an id.
type SignWith struct {
	chain     string
	text      string
	address   Address
	isAddress bool
	at        [1]keystore.Locator
}

// ReadSignWith reads signWith: an address if it starts with 0x, else a key's id.
// An address has its digits all in one case, or the checksum of EIP-55. The
// error is a *chains.SignerError.
func ReadSignWith(chain, signWith string) (*SignWith, error) {
	s := &SignWith{chain: chain, text: signWith}
	if !isAddress(signWith) {
		s.at[0] = keystore.ByID(signWith)
		return s, nil
	}
	if err := CheckSpelling(chain, signWith); err != nil {
		return nil, err
	}
	s.address, _ = readAddress(signWith) // CheckSpelling has read it
	s.isAddress = true
	s.at[0] = keystore.ByKeccak(s.address)
	return s, nil
}

// Locators implements chains.Request.
func (s *SignWith) Locators() []keystore.Locator { return s.at[:] }

// SigningKey is a key that can sign, and its address.
type SigningKey struct {
	keystore.ECDSASigner
	ID        string
	PublicKey keystore.PublicKey
	Address   Address
}

// Signer returns the one key that signs with ECDSA and, if signWith is an address, is
// there. The errors are those of signer.Only.
func (s *SignWith) Signer(keys []keystore.Key) (SigningKey, error) {
	only, _, err := signer.Only(s.chain, keys, s.signer)
	return only, err
}

func (s *SignWith) signer(key keystore.Key) (SigningKey, error) {
	ecdsa, err := keystore.AsECDSA(key)
	if err != nil {
		return SigningKey{}, err
	}
	signer := SigningKey{ECDSASigner: ecdsa, ID: key.ID(), PublicKey: key.PublicKey(), Address: AddressOf(key.PublicKey())}
	if s.isAddress && signer.Address != s.address {
		return SigningKey{}, &chains.SignerError{Kind: chains.ErrNotSigner, Chain: s.chain,
			Problem: fmt.Sprintf("key %s is at %s, not at %s", key.ID(), signer.Address, s.text)}
	}
	return signer, nil
}
