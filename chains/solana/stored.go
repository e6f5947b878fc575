package solana

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// storedKeys are the accounts of a message that Squads stores.
type storedKeys struct {
	accounts []account
}

// storedMessage reads the message that a multisig is to execute, a u32 length and:
//
//	u8                            number of signers
//	u8                            of them writable
//	u8                            writable accounts that do not sign
//	u8 count ‖ 32 bytes each      account keys, in the order of a message's
//	u8 count, of instructions:
//	  u8                          program_id_index
//	  u8 count ‖ u8 each          accounts
//	  u16 length ‖ bytes          data
//	u8 count, of lookups:
//	  32 bytes                    table
//	  u8 count ‖ u8 each          writable entries
//	  u8 count ‖ u8 each          read-only entries
//
// Its instructions take effect when the multisig executes them.
func storedMessage(r *reading) error {
	size, err := r.uint32("message")
	if err != nil {
		return err
	}
	if left := len(r.raw) - r.cursor.at; uint64(size) > uint64(left) {
		return malformed("message", r.cursor.at, "cut off: %d bytes are needed, %d are left", size, left)
	}
	c := &cursor{raw: r.raw[:r.cursor.at+int(size)], at: r.cursor.at}
	r.cursor.at += int(size)
	header, err := c.skip(3, "header")
	if err != nil {
		return err
	}
	keysAt, keys, err := c.short(keySize, "account keys")
	if err != nil {
		return err
	}
	instructions, err := storedInstructions(c)
	if err != nil {
		return err
	}
	stored := storedKeys{}
	for i := range keys {
		signers, writableSigners, writable := int(c.raw[header]), int(c.raw[header+1]), int(c.raw[header+2])
		stored.accounts = append(stored.accounts, account{
			address: c.raw[keysAt+i*keySize:][:keySize], signer: i < signers, slot: -1,
			writable: i < writableSigners || i >= signers && i < signers+writable,
		})
	}
	if err := stored.readLookups(c); err != nil {
		return err
	}
	if left := len(c.raw) - c.at; left > 0 {
		return fmt.Errorf("%d bytes are left over behind the stored message", left)
	}
	return r.storedCalls(stored, instructions, c.raw)
}

// short reads a u8 count and moves over that many items of size bytes.
func (c *cursor) short(size int, field string) (at, count int, err error) {
	number, err := c.uint8(field)
	if err != nil {
		return 0, 0, err
	}
	at, err = c.skip(int(number)*size, field)
	return at, int(number), err
}

func storedInstructions(c *cursor) (list []instruction, err error) {
	count, err := c.uint8("instructions")
	for i := byte(0); err == nil && i < count; i++ {
		var in instruction
		if in.at, err = c.skip(1, "program_id_index"); err != nil {
			return nil, err
		}
		if in.accountsAt, in.numbers, err = c.short(1, "accounts"); err != nil {
			return nil, err
		}
		size, failed := c.uint16("data")
		if failed != nil {
			return nil, failed
		}
		in.size = int(size)
		in.dataAt, err = c.skip(in.size, "data")
		list = append(list, in)
	}
	return list, err
}

// readLookups adds the accounts that come from lookup tables: the writable ones
// of all tables first.
func (s *storedKeys) readLookups(c *cursor) error {
	count, err := c.uint8("address_table_lookups")
	if err != nil {
		return err
	}
	var readonly []account
	for range count {
		tableAt, err := c.skip(keySize, "table")
		if err != nil {
			return err
		}
		for _, writable := range []bool{true, false} {
			at, entries, err := c.short(1, "entries")
			if err != nil {
				return err
			}
			for _, entry := range c.raw[at:][:entries] {
				loaded := account{table: c.raw[tableAt:][:keySize], entry: entry, writable: writable, slot: -1}
				if writable {
					s.accounts = append(s.accounts, loaded)
				} else {
					readonly = append(readonly, loaded)
				}
			}
		}
	}
	s.accounts = append(s.accounts, readonly...)
	return nil
}

// storedCalls decodes the instructions of a stored message.
func (r *reading) storedCalls(keys storedKeys, instructions []instruction, raw []byte) error {
	for i, in := range instructions {
		var given []account
		for _, index := range raw[in.accountsAt:][:in.numbers] {
			if int(index) >= len(keys.accounts) {
				return fmt.Errorf("stored instruction %d: account %d, and there are %d", i, index, len(keys.accounts))
			}
			given = append(given, keys.accounts[index])
		}
		program := int(raw[in.at])
		if program >= len(keys.accounts) || keys.accounts[program].address == nil {
			return fmt.Errorf("stored instruction %d: its program is not in the transaction", i)
		}
		inner := r.within(i, cursor{raw: raw[:in.dataAt+in.size], at: in.dataAt}, given)
		inner.nested, inner.id = true, keys.accounts[program].address
		inner.problem = inner.as([keySize]byte(inner.id))
		r.inner = append(r.inner, inner)
		r.show(func() chains.Field {
			return chains.List(fmt.Sprintf("stored instruction %d", i), inner.shownFields(raw[in.dataAt:][:in.size])...)
		})
	}
	return nil
}
