package solana

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/texts"
)

// Complete is that of chains.Forms: the message of a transaction gets an empty slot for
// each signature. The bytes decide what they are, not what came with them.
func (c Chain) Complete(raw []byte) (transaction []byte, err error) {
	_, whole := c.Parse(raw)
	if whole == nil {
		return raw, nil
	}
	if transaction, _ = withSlots(raw); transaction != nil {
		_, whole = c.Parse(transaction)
	}
	if whole != nil {
		return nil, fmt.Errorf("neither a transaction nor the message of one: %w", whole)
	}
	return transaction, nil
}

// withSlots returns the message of a transaction with an empty slot for each signature:
// before it, after their number, or behind it in version 1. at is where the message begins.
// It returns nil for what is no message.
func withSlots(message []byte) (wire []byte, at int) {
	header := 0
	if len(message) > 0 && message[0]&prefixBit != 0 {
		header = 1
	}
	if len(message) <= header || message[header] == 0 || message[header]&prefixBit != 0 {
		return nil, 0
	}
	slots := make([]byte, ed25519.SignatureSize*int(message[header]))
	if message[0] == prefixBit|1 {
		return slices.Concat(message, slots), 0
	}
	return slices.Concat(message[header:header+1], slots, message), 1 + len(slots)
}

// ReadMessage implements chains.MessageSigner: an off-chain message, a text, or the message of a
// transaction. Their first bytes differ, so that nothing has two readings.
func (c Chain) ReadMessage(message chains.Message) (chains.Transaction, error) {
	if message.Form != chains.MessageBare {
		return nil, chains.ErrUnsupported
	}
	read, err := solanamsg.Parse(message.Bytes, c)
	const hashSize = 32 // shorter than every transaction
	if err == nil || !errors.Is(err, chains.ErrUnsupported) || len(message.Bytes) == hashSize {
		return read, err
	}
	tx, err := c.ParseMessage(message.Bytes)
	if err != nil {
		return nil, fmt.Errorf("payload: neither text nor an off-chain message nor the message of a transaction: %w",
			err)
	}
	return statement.OfTransaction(tx), nil
}

func (Chain) MessageHazardNames() []string {
	return append(texts.HazardNames(), solanamsg.HazardRawMessage)
}

// ParseMessage reads the message of a transaction alone, which is what signatures cover, as
// strictly as Parse reads a whole transaction: it adds zeroed signature slots. The error is a
// *chains.ParseError whose offsets are in message.
func (c Chain) ParseMessage(message []byte) (chains.Transaction, error) {
	wire, at := withSlots(message)
	if wire == nil {
		return nil, malformed("header.num_required_signatures", -1,
			"not a Solana message: it must have 1 to 127 signers")
	}
	tx, err := c.Parse(wire)
	if refused, ok := errors.AsType[*chains.ParseError](err); ok && refused.Offset > 0 {
		refused.Offset = max(refused.Offset-at, -1) // the caller has the message alone
	}
	return tx, err
}

// MessageKey implements chains.MessageSigner. signWith is an address, or a key's id.
func (Chain) MessageKey(signWith string) (chains.MessageKey, error) {
	with, err := readSignWith(signWith)
	if err != nil {
		return nil, err
	}
	return &with, nil
}
