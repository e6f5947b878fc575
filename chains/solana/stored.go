package solana

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

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
func storedMessage(r *reader) error {
	message, err := r.sized(4, "message")
	if err != nil {
		return err
	}
	c := &cursor{raw: r.raw[:r.cursor.offset], offset: r.cursor.offset - len(message)}
	accounts, err := storedKeys(c)
	if err != nil {
		return err
	}
	instructions, err := storedInstructions(c)
	if err != nil {
		return err
	}
	if accounts, err = storedLookups(c, accounts); err != nil {
		return err
	}
	if left := len(c.raw) - c.offset; left > 0 {
		return fmt.Errorf("%d bytes are left over behind the stored message", left)
	}
	return r.storedCalls(accounts, instructions, c.raw)
}

// storedKeys reads the header and the account keys.
func storedKeys(c *cursor) (accounts []account, err error) {
	header, err := c.take(3, "header")
	if err != nil {
		return nil, err
	}
	keysAt, keys, err := c.short(keySize, "account keys")
	signers, writableSigners, writable := int(header[0]), int(header[1]), int(header[2])
	for i := range keys {
		accounts = append(accounts, account{
			address: c.raw[keysAt+i*keySize:][:keySize], signer: i < signers, slot: -1,
			writable: i < writableSigners || i >= signers && i < signers+writable,
		})
	}
	return accounts, err
}

// short reads a u8 count and moves over that many items of size bytes.
func (c *cursor) short(size int, field string) (offset, count int, err error) {
	number, err := c.uint8(field)
	if err != nil {
		return 0, 0, err
	}
	if offset, err = c.skip(int(number)*size, field); err != nil {
		return 0, 0, err
	}
	return offset, int(number), nil
}

func storedInstructions(c *cursor) (list []instruction, err error) {
	count, err := c.uint8("instructions")
	for i := byte(0); err == nil && i < count; i++ {
		var in instruction
		if in.programAt, err = c.skip(1, "program_id_index"); err != nil {
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

// storedLookups appends the accounts that come from lookup tables: the writable ones
// of all tables first.
func storedLookups(c *cursor, accounts []account) ([]account, error) {
	count, err := c.uint8("address_table_lookups")
	if err != nil {
		return nil, err
	}
	var readonly []account
	for range count {
		table, err := c.take(keySize, "table")
		if err != nil {
			return nil, err
		}
		for _, writable := range []bool{true, false} {
			offset, entries, err := c.short(1, "entries")
			if err != nil {
				return nil, err
			}
			for _, entry := range c.raw[offset:][:entries] {
				loaded := account{table: table, entry: entry, writable: writable, slot: -1}
				if writable {
					accounts = append(accounts, loaded)
				} else {
					readonly = append(readonly, loaded)
				}
			}
		}
	}
	return append(accounts, readonly...), nil
}

// storedCalls decodes the instructions of a stored message.
func (r *reader) storedCalls(accounts []account, instructions []instruction, raw []byte) error {
	for i, in := range instructions {
		var given []account
		for _, index := range raw[in.accountsAt:][:in.numbers] {
			if int(index) >= len(accounts) {
				return fmt.Errorf("stored instruction %d: account %d, and there are %d", i, index, len(accounts))
			}
			given = append(given, accounts[index])
		}
		program := int(raw[in.programAt])
		if program >= len(accounts) || accounts[program].address == nil {
			return fmt.Errorf("stored instruction %d: its program is not in the transaction", i)
		}
		inner := r.nested(i, cursor{raw: raw[:in.dataAt+in.size], offset: in.dataAt}, given)
		inner.stored, inner.id = true, accounts[program].address
		inner.decode()
		r.inner = append(r.inner, inner)
		r.show(func() chains.Field {
			return chains.List(fmt.Sprintf("stored instruction %d", i), inner.shownFields(raw[in.dataAt:][:in.size])...)
		})
	}
	return nil
}
