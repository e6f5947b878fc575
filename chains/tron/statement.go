package tron

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/signer"
	"github.com/countersign-dev/countersign/keystore"
)

// ParseMessage reads raw_data alone, the bytes whose SHA-256 is signed, as strictly as
// Parse. It refuses a whole Transaction, whose hash is another. The error is a
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

// SignWith names what signs a message: the key at an address, or the key with an id.
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

// Signer returns the one key that can sign: a secp256k1 key, the one at the address if
// signWith is an address. The errors are those of chains.Request.
func (s *SignWith) Signer(keys []keystore.Key) (keystore.ECDSASigner, keystore.Key, error) {
	return signer.Only(Name, keys, s.keyOf)
}

// Contracts returns the network on which Tron's contracts run, which the chain ids of its
// typed data do not tell apart.
func (Chain) Contracts(*big.Int) *evm.Network { return network }

// MaxFee returns 0: what a message of Tron lets others take as a fee has the default bound.
func (Chain) MaxFee() float64 { return 0 }

// PartyOf returns the party at the address of a secp256k1 key.
func PartyOf(pub keystore.PublicKey) chains.Party {
	return party(addressOf(pub))
}
