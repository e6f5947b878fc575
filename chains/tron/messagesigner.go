package tron

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/texts"
)

// ReadMessage implements chains.MessageSigner: typed data (TIP-712), a personal message (TIP-191),
// or the raw_data of a transaction, whose signatures are over its SHA-256. What a message lets
// others take as a fee has the default bound.
func (c Chain) ReadMessage(message chains.Message) (chains.Transaction, error) {
	switch message.Form {
	case chains.MessageTypedData:
		// Chain ids of typed data do not tell apart the networks, on which the same contracts run.
		contracts := func(*big.Int) *evm.Network { return network }
		return structures.Parse(message, structures.Verifier{Chain: c, Contracts: contracts})
	case chains.MessageKeccak256:
		return personal.Parse(message.Bytes, c, personal.Kind{Prefix: personal.TronPrefix, Standard: texts.EIP4361Tron})
	case chains.MessageSHA256:
		tx, err := c.ParseMessage(message.Bytes)
		if err != nil {
			return nil, err
		}
		return statement.OfTransaction(tx), nil
	}
	return nil, chains.ErrUnsupported
}

func (Chain) MessageHazardNames() []string {
	return append(structures.HazardNames(), texts.HazardNames()...)
}

// ParseMessage reads raw_data alone, the bytes whose SHA-256 is signed, as strictly as Parse. It
// refuses a whole Transaction, whose hash is another. The error is a *chains.ParseError.
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
