package solana

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

var _ chains.Exchanger = Chain{}

// Forms implements chains.Exchanger.
func (Chain) Forms() (forms []string, expected string) {
	return []string{"base64", "base58"}, "a transaction, or the message of one, in hex, base64 or base58"
}

// Complete implements chains.Exchanger: the message of a transaction gets an empty slot for
// each signature. The bytes decide what they are, not what came with them.
func (c Chain) Complete(raw []byte) (transaction []byte, err error) {
	_, whole := c.Parse(raw)
	if whole == nil {
		return raw, nil
	}
	completed := withSlots(raw)
	if completed != nil {
		_, whole = c.Parse(completed)
	}
	if whole != nil {
		return nil, fmt.Errorf("neither a transaction nor the message of one: %w", whole)
	}
	return completed, nil
}

// withSlots returns the message of a transaction with an empty slot for each signature:
// before it, after their number, or behind it in version 1. It returns nil for what is no
// message.
func withSlots(message []byte) []byte {
	slots := func(count byte) []byte { return make([]byte, ed25519.SignatureSize*int(count)) }
	switch {
	case len(message) < 2:
		return nil
	case message[0] == 0x81 && message[1] < 0x80:
		return slices.Concat(message, slots(message[1]))
	case message[0] == 0x80 && message[1] < 0x80: // version 0
		return slices.Concat(message[1:2], slots(message[1]), message)
	case message[0] < 0x80: // legacy: begins with the number of signers
		return slices.Concat(message[:1], slots(message[0]), message)
	}
	return nil
}

// ParseMessage reads a message alone, which is what signatures cover, as strictly as
// Parse reads a whole transaction: it adds zeroed signature slots. The error is a
// *chains.ParseError whose offsets are in message.
func (c Chain) ParseMessage(message []byte) (chains.Transaction, error) {
	header := 0
	if len(message) > 0 && message[0]&prefixBit != 0 {
		header = 1
	}
	if len(message) <= header || message[header] == 0 || message[header]&prefixBit != 0 {
		return nil, malformed("header.num_required_signatures", -1, "not a Solana message: it must have 1 to 127 signers")
	}
	slots := make([]byte, int(message[header])*ed25519.SignatureSize)
	if message[0] == prefixBit|1 {
		return c.Parse(append(append(make([]byte, 0, len(message)+len(slots)), message...), slots...))
	}
	wire := append(make([]byte, 0, 1+len(slots)+len(message)), message[header])
	tx, err := c.Parse(append(append(wire, slots...), message...))
	if refused, ok := errors.AsType[*chains.ParseError](err); ok && refused.Offset >= 1+len(slots) {
		refused.Offset -= 1 + len(slots) // the caller has the message alone
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

// EncodeAddress returns an address in base58.
func EncodeAddress(address [32]byte) string { return encode58(address[:]) }
