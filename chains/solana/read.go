package solana

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/binary"

	"github.com/countersign-dev/countersign/chains"
)

// read reads all of raw. It verifies the signatures last, once everything else is
// known to be valid.
func (t *Transaction) read(limits Limits) error {
	if len(t.raw) == 0 {
		return malformed("", 0, "empty: pass a whole transaction with its signature slots")
	}
	c := &cursor{raw: t.raw}
	if err := t.readWire(c, limits); err != nil {
		return err
	}
	if left := len(t.raw) - c.offset; left > 0 {
		return malformed("", c.offset, "%d bytes are left over after the transaction", left)
	}
	if err := t.checkKeys(); err != nil {
		return err
	}
	if err := t.checkIndexes(); err != nil {
		return err
	}
	if err := t.checkBudget(); err != nil {
		return err
	}
	return t.checkSignatures()
}

// readWire locates the signatures by the first byte. It is the version of a v1 message,
// or the count of signatures, which is at most 127 since no header can ask for more.
func (t *Transaction) readWire(c *cursor, limits Limits) error {
	switch first := t.raw[0]; {
	case first == prefixBit|1:
		if err := checkSize(t.raw, cmp.Or(limits.MaxSizeV1, DefaultMaxSizeV1)); err != nil {
			return err
		}
		return t.readV1(c)
	case first > prefixBit|1:
		return unsupportedVersion(0, first)
	}
	if err := checkSize(t.raw, cmp.Or(limits.MaxSize, DefaultMaxSize)); err != nil {
		return err
	}
	if err := t.readSignaturesFirst(c); err != nil {
		return explainBareMessage(t.raw, err)
	}
	return nil
}

func checkSize(raw []byte, limit int) error {
	if len(raw) > limit {
		return malformed("", limit, "the transaction has %d bytes, of at most %d", len(raw), limit)
	}
	return nil
}

func unsupportedVersion(offset int, prefix byte) error {
	err := malformed("version", offset, "transaction version %d is not supported: use legacy, 0 or 1", prefix&^prefixBit)
	err.Kind = chains.ErrUnsupported
	return err
}

// readSignaturesFirst reads a legacy or v0 transaction:
//
//	compact-u16 count ‖ signatures (64 each) ‖ message
func (t *Transaction) readSignaturesFirst(c *cursor) error {
	offset, count, err := c.counted(ed25519.SignatureSize, "signatures")
	if err != nil {
		return err
	}
	t.signaturesAt, t.messageAt = offset, c.offset
	if err := t.readMessage(c); err != nil {
		return err
	}
	if count != t.header.required {
		return malformed("signatures", 0, "there are %d slots, and header.num_required_signatures at byte %d asks for %d",
			count, t.headerAt(), t.header.required)
	}
	t.messageEnd = c.offset
	return nil
}

// headerAt returns the offset of the header, which follows the version if there is one.
func (t *Transaction) headerAt() int {
	if t.version == Legacy {
		return t.messageAt
	}
	return t.messageAt + 1
}

// explainBareMessage returns an error that names the cure if raw is a message without
// slots, which libraries call the serialized message. Otherwise it returns err.
func explainBareMessage(raw []byte, err error) error {
	c, bare := &cursor{raw: raw}, &Transaction{raw: raw}
	if bare.readMessage(c) != nil || c.offset < len(raw) {
		return err
	}
	return malformed("signatures", 0, "this is a message alone: put the count of signatures, %d, and as many zeroed slots of 64 bytes before it", bare.header.required)
}

// checkHeader checks the header against the number of the message's own keys.
func (t *Transaction) checkHeader() error {
	offset, h := t.headerAt(), t.header
	switch {
	case h.required == 0:
		return malformed("header.num_required_signatures", offset, "no signers: the first key pays the fee and signs")
	case h.readonlySigned >= h.required:
		return malformed("header.num_readonly_signed_accounts", offset+1,
			"all %d signers are read-only: the first pays the fee and must be writable", h.required)
	case h.required > t.keys:
		return malformed("header.num_required_signatures", offset, "%d signers, and %d account keys", h.required, t.keys)
	case h.required+h.readonlyUnsigned > t.keys:
		return malformed("header.num_readonly_unsigned_accounts", offset+2,
			"%d signers and %d read-only accounts, and %d account keys", h.required, h.readonlyUnsigned, t.keys)
	}
	return nil
}

// checkKeys refuses duplicate keys. It compares a key with those before it only if an
// earlier key has the same mark.
func (t *Transaction) checkKeys() error {
	var seen [1 << 10 / 64]uint64
	for i := range t.keys {
		mark := keyMark(t.key(i))
		if word, bit := mark/64, uint64(1)<<(mark%64); seen[word]&bit == 0 {
			seen[word] |= bit
			continue
		}
		for j := range i {
			if bytes.Equal(t.key(j), t.key(i)) {
				return duplicateKey(t.keysAt, j, i, t.key(i))
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
func (t *Transaction) checkIndexes() error {
	all := t.keys + t.loaded
	for i, in := range t.instructions {
		switch program := t.program(in); {
		case program == 0:
			return within(malformed("program_id_index", in.programAt, "the fee payer cannot be the program"), "instructions", i)
		case program >= all:
			return within(malformed("program_id_index", in.programAt, "is %d, and there are %d accounts", program, all), "instructions", i)
		case program >= t.keys:
			return within(malformed("program_id_index", in.programAt,
				"is %d, which comes from a lookup table: a program must be one of the message's %d keys", program, t.keys), "instructions", i)
		}
		for j, account := range t.accounts(in) {
			if int(account) >= all {
				return within(malformed(item("accounts", j), in.accountsAt+j, "is %d, and there are %d accounts", account, all), "instructions", i)
			}
		}
	}
	return nil
}
