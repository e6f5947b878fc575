package solana

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/binary"
)

// read reads all of raw. It verifies the signatures last, once everything else is
// known to be valid.
func (p *parser) read(limits Limits) error {
	if len(p.message.raw) == 0 {
		return malformed("", 0, "empty: pass a whole transaction with its signature slots")
	}
	p.readWire(limits)
	if p.left() > 0 {
		p.refuse("", p.offset, "%d bytes are left over after the transaction", p.left())
	}
	if p.err != nil {
		return p.err
	}
	if err := p.checkKeys(); err != nil {
		return err
	}
	for i, in := range p.instructions {
		if err := p.checkInstruction(in, p.keys+p.loaded); err != nil {
			return within(err, "instructions", i)
		}
	}
	if err := p.checkBudget(); err != nil {
		return err
	}
	for i := range p.header.required { // what other signers have put into their slots
		if p.filled(i) && !verifyStrict(p.key(i), p.Message(), p.signature(i)) {
			return malformed(item("signatures", i), p.signatureAt(i),
				"is not a valid signature of %s over this message: zero the slot, or have that signer sign again",
				encode58(p.key(i)))
		}
	}
	return nil
}

// readWire locates the signatures by the first byte. It is the version of a v1 message,
// or the count of signatures, which is at most 127 since no header can ask for more.
func (p *parser) readWire(limits Limits) {
	switch first := p.message.raw[0]; {
	case first == prefixBit|1:
		if p.checkSize(cmp.Or(limits.MaxSizeV1, DefaultMaxSizeV1)) {
			p.readV1()
		}
	case first > prefixBit|1:
		p.refuseVersion(0, first)
	case p.checkSize(cmp.Or(limits.MaxSize, DefaultMaxSize)):
		offset, count := p.counted(ed25519.SignatureSize, "signatures")
		p.signaturesAt, p.messageAt = offset, p.offset
		p.readMessage()
		if count != p.header.required {
			p.refuse("signatures", 0, "there are %d slots, and header.num_required_signatures at byte %d asks for %d",
				count, p.headerAt(), p.header.required)
		}
		if p.messageEnd = p.offset; p.err == nil {
			return
		}
		// Libraries call a message without slots the serialized message.
		bare := parser{cursor: cursor{raw: p.message.raw}, message: &message{raw: p.message.raw}}
		if bare.readMessage(); bare.err == nil && bare.left() == 0 {
			p.err = malformed("signatures", 0, "this is a message alone: put the count of signatures, %d, "+
				"and as many zeroed slots of 64 bytes before it", bare.header.required)
		}
	}
}

func (p *parser) checkSize(limit int) bool {
	if len(p.message.raw) > limit {
		p.refuse("", limit, "the transaction has %d bytes, of at most %d", len(p.message.raw), limit)
	}
	return p.err == nil
}

// checkKeys refuses duplicate keys. It compares a key with those before it only if an
// earlier key has the same mark.
func (m *message) checkKeys() error {
	var seen [1 << 10 / 64]uint64
	for i := range m.keys {
		key := m.key(i) // all of whose bytes the ten bits of the mark depend on
		words := binary.LittleEndian.Uint64(key) ^ binary.LittleEndian.Uint64(key[8:])<<1 ^
			binary.LittleEndian.Uint64(key[16:])<<2 ^ binary.LittleEndian.Uint64(key[24:])<<3
		mark := words * 0x9e3779b97f4a7c15 >> 54
		if word, bit := mark/64, uint64(1)<<(mark%64); seen[word]&bit == 0 {
			seen[word] |= bit
			continue
		}
		for j := range i {
			if bytes.Equal(m.key(j), m.key(i)) {
				return malformed(item("account_keys", i), m.keysAt+i*keySize,
					"is the same as account_keys[%d], %s", j, encode58(m.key(i)))
			}
		}
	}
	return nil
}

// checkInstruction refuses an instruction whose indexes are out of range of all accounts, and a
// program that is the fee payer or comes from a lookup table.
func (m *message) checkInstruction(in instruction, all int) error {
	switch program := m.program(in); {
	case program == 0:
		return malformed("program_id_index", in.programAt, "the fee payer cannot be the program")
	case program >= all:
		return malformed("program_id_index", in.programAt, "is %d, and there are %d accounts", program, all)
	case program >= m.keys:
		return malformed("program_id_index", in.programAt, "is %d, which comes from a lookup table: "+
			"a program must be one of the message's %d keys", program, m.keys)
	}
	for j, account := range m.accounts(in) {
		if int(account) >= all {
			return malformed(item("accounts", j), in.accountsAt+j, "is %d, and there are %d accounts", account, all)
		}
	}
	return nil
}
