package tron

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// ParseMessage reads raw_data alone, the bytes whose SHA-256 is signed, as strictly
// as Parse. A whole Transaction is refused: its hash is another. The error is a
// *chains.ParseError.
func (c Chain) ParseMessage(message []byte) (chains.Transaction, error) {
	read, err := c.Parse(message)
	if err != nil {
		return nil, err
	}
	if read.(*transaction).whole {
		return nil, malformed("", 0, "this is a whole Transaction: its raw_data alone is signed")
	}
	return read, nil
}

// SignWith is what should sign a message: the key at an address, or with an id.
type SignWith struct {
	request
}

// ReadSignWith reads signWith: an address in base58check or in hex, or a key's id.
// The error is a *chains.SignerError.
func ReadSignWith(text string) (*SignWith, error) {
	var none *transaction
	read, err := none.Request(text)
	if err != nil {
		return nil, err
	}
	return &SignWith{*read.(*request)}, nil
}

// Signer returns the one key that can sign: a secp256k1 key, the one at the
// address if signWith is an address. The errors are those of chains.Request.
func (s *SignWith) Signer(keys []keystore.Key) (signer keystore.ECDSASigner, key keystore.Key, err error) {
	found := 0
	for i, candidate := range keys {
		able, problem := s.keyOf(candidate)
		switch {
		case problem == nil:
			signer, key = able, candidate
			found++
		case i == 0:
			err = problem
		}
	}
	switch found {
	case 0:
		return nil, nil, err
	case 1:
		return signer, key, nil
	}
	return nil, nil, &chains.SignerError{Kind: chains.ErrSignWith, Chain: Name,
		Problem: fmt.Sprintf("%d of the wallet's keys could sign: name one by its address or id", found)}
}

// PartyOf returns the party at the address of a secp256k1 key.
func PartyOf(pub keystore.PublicKey) chains.Party {
	return network.Party(evm.Address(addressOf(pub)))
}
