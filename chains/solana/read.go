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
	if err := p.readWire(limits); err != nil {
		return err
	}
	if left := len(p.message.raw) - p.offset; left > 0 {
		return malformed("", p.offset, "%d bytes are left over after the transaction", left)
	}
	if err := p.checkKeys(); err != nil {
		return err
	}
	if err := p.checkIndexes(); err != nil {
		return err
	}
	if err := p.checkBudget(); err != nil {
		return err
	}
	return p.checkSignatures()
}

// readWire locates the signatures by the first byte. It is the version of a v1 message,
// or the count of signatures, which is at most 127 since no header can ask for more.
func (p *parser) readWire(limits Limits) error {
	switch first := p.message.raw[0]; {
	case first == prefixBit|1:
		if err := checkSize(p.message.raw, cmp.Or(limits.MaxSizeV1, DefaultMaxSizeV1)); err != nil {
			return err
		}
		return p.readV1()
	case first > prefixBit|1:
		return unsupportedVersion(0, first)
	}
	if err := checkSize(p.message.raw, cmp.Or(limits.MaxSize, DefaultMaxSize)); err != nil {
		return err
	}
	if err := p.readSignaturesFirst(); err != nil {
		return explainBareMessage(p.message.raw, err)
	}
	return nil
}

func checkSize(raw []byte, limit int) error {
	if len(raw) > limit {
		return malformed("", limit, "the transaction has %d bytes, of at most %d", len(raw), limit)
	}
	return nil
}

// readSignaturesFirst reads a legacy or v0 transaction:
//
//	compact-u16 count ‖ signatures (64 each) ‖ message
func (p *parser) readSignaturesFirst() error {
	offset, count, err := p.counted(ed25519.SignatureSize, "signatures")
	if err != nil {
		return err
	}
	p.signaturesAt, p.messageAt = offset, p.offset
	if err := p.readMessage(); err != nil {
		return err
	}
	if count != p.header.required {
		return malformed("signatures", 0, "there are %d slots, and header.num_required_signatures at byte %d asks for %d",
			count, p.headerAt(), p.header.required)
	}
	p.messageEnd = p.offset
	return nil
}

// explainBareMessage returns an error that names the cure if raw is a message without
// slots, which libraries call the serialized message. Otherwise it returns err.
func explainBareMessage(raw []byte, err error) error {
	bare := parser{cursor{raw: raw}, &message{raw: raw}}
	if bare.readMessage() != nil || bare.offset < len(raw) {
		return err
	}
	return malformed("signatures", 0, "this is a message alone: put the count of signatures, %d, and as many zeroed slots of 64 bytes before it", bare.header.required)
}

// checkKeys refuses duplicate keys. It compares a key with those before it only if an
// earlier key has the same mark.
func (p *parser) checkKeys() error {
	var seen [1 << 10 / 64]uint64
	for i := range p.keys {
		mark := keyMark(p.key(i))
		if word, bit := mark/64, uint64(1)<<(mark%64); seen[word]&bit == 0 {
			seen[word] |= bit
			continue
		}
		for j := range i {
			if bytes.Equal(p.key(j), p.key(i)) {
				return duplicateKey(p.keysAt, j, i, p.key(i))
			}
		}
	}
	return nil
}

// keyMark hashes all bytes of a key to ten bits.
func keyMark(key []byte) uint64 {
	words := binary.LittleEndian.Uint64(key) ^ binary.LittleEndian.Uint64(key[8:])<<1 ^
		binary.LittleEndian.Uint64(key[16:])<<2 ^ binary.LittleEndian.Uint64(key[24:])<<3
	return words * 0x9e3779b97f4a7c15 >> 54
}

// checkIndexes refuses instructions whose indexes are out of range, and programs that
// are the fee payer or come from a lookup table.
func (p *parser) checkIndexes() error {
	all := p.keys + p.loaded
	for i, in := range p.instructions {
		switch program := p.program(in); {
		case program == 0:
			return within(malformed("program_id_index", in.programAt, "the fee payer cannot be the program"), "instructions", i)
		case program >= all:
			return within(malformed("program_id_index", in.programAt, "is %d, and there are %d accounts", program, all), "instructions", i)
		case program >= p.keys:
			return within(malformed("program_id_index", in.programAt,
				"is %d, which comes from a lookup table: a program must be one of the message's %d keys", program, p.keys), "instructions", i)
		}
		for j, account := range p.accounts(in) {
			if int(account) >= all {
				return within(malformed(item("accounts", j), in.accountsAt+j, "is %d, and there are %d accounts", account, all), "instructions", i)
			}
		}
	}
	return nil
}
