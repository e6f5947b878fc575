package tron

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
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

// MessageKey implements chains.MessageSigner. signWith is an address in base58check or in hex, or a key's id.
func (Chain) MessageKey(signWith string) (chains.MessageKey, error) {
	with, err := readSignWith(signWith)
	if err != nil {
		return nil, err
	}
	return &with, nil
}

// Contracts returns the network on which Tron's contracts run, which the chain ids of its
// typed data do not tell apart.
func (Chain) Contracts(*big.Int) *evm.Network { return network }

// MaxFee returns 0: what a message of Tron lets others take as a fee has the default bound.
func (Chain) MaxFee() float64 { return 0 }
