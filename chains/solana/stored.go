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
func storedMessage(r *reader) {
	message := sized(4, "message")(r)
	c := &cursor{raw: r.raw[:r.cursor.offset], offset: r.cursor.offset - len(message), err: r.err}
	accounts := c.storedKeys()
	var instructions []instruction
	for count := c.uint8("instructions"); len(instructions) < int(count) && c.err == nil; {
		in := instruction{programAt: c.skip(1, "program_id_index")}
		in.accountsAt, in.numbers = c.short(1, "accounts")
		in.size = int(c.uint(2, "data"))
		in.dataAt = c.skip(in.size, "data")
		instructions = append(instructions, in)
	}
	accounts = c.storedLookups(accounts)
	if c.left() > 0 {
		c.fail(fmt.Errorf("%d bytes are left over behind the stored message", c.left()))
	}
	if r.err = c.err; r.err == nil {
		r.storedCalls(accounts, instructions, c.raw)
	}
}

func (c *cursor) storedKeys() (accounts []account) {
	var header [3]byte
	copy(header[:], c.take(3, "header"))
	signers, writableSigners, writable := int(header[0]), int(header[1]), int(header[2])
	keysAt, keys := c.short(keySize, "account keys")
	for i := 0; i < keys && c.err == nil; i++ {
		accounts = append(accounts, account{
			address: c.raw[keysAt+i*keySize:][:keySize], signer: i < signers, slot: -1,
			writable: i < writableSigners || i >= signers && i < signers+writable,
		})
	}
	return accounts
}

// short reads a u8 count and moves over that many items of size bytes.
func (c *cursor) short(size int, field string) (offset, count int) {
	count = int(c.uint8(field))
	return c.skip(count*size, field), count
}

// storedLookups appends the accounts that come from lookup tables: the writable ones
// of all tables first.
func (c *cursor) storedLookups(accounts []account) []account {
	var readonly []account
	for range c.uint8("address_table_lookups") {
		table := c.take(keySize, "table")
		for _, list := range []*[]account{&accounts, &readonly} {
			offset, entries := c.short(1, "entries")
			for i := 0; i < entries && c.err == nil; i++ {
				*list = append(*list,
					account{table: table, entry: c.raw[offset+i], writable: list == &accounts, slot: -1})
			}
		}
	}
	return append(accounts, readonly...)
}

func (r *reader) storedCalls(accounts []account, instructions []instruction, raw []byte) {
	for i, in := range instructions {
		var given []account
		for _, index := range raw[in.accountsAt:][:in.numbers] {
			if int(index) >= len(accounts) {
				r.fail(fmt.Errorf("stored instruction %d: account %d, and there are %d", i, index, len(accounts)))
				return
			}
			given = append(given, accounts[index])
		}
		program := int(raw[in.programAt])
		if program >= len(accounts) || accounts[program].address == nil {
			r.fail(fmt.Errorf("stored instruction %d: its program is not in the transaction", i))
			return
		}
		inner := r.nested(i, cursor{raw: raw[:in.dataAt+in.size], offset: in.dataAt}, given)
		inner.stored, inner.id = true, accounts[program].address
		inner.decode()
		r.inner = append(r.inner, inner)
		r.show(func() chains.Field {
			return chains.List(fmt.Sprintf("stored instruction %d", i),
				inner.shownFields(raw[in.dataAt:][:in.size])...)
		})
	}
}
