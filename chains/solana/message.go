package solana

import (
	"crypto/ed25519"
	"fmt"
	"slices"
)

// Complete is that of chains.Forms: the message of a transaction gets an empty slot for
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
