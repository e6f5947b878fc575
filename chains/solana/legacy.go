package solana

import "fmt"

// The limits of a legacy or v0 transaction.
const (
	maxAccounts     = 64 // locked accounts: keys of the message and entries of lookup tables
	maxInstructions = 64 // SIMD-0160
)

// readMessage reads a legacy or v0 message. Counts are compact-u16.
//
//	0x80                          v0 only
//	u8                            header.num_required_signatures
//	u8                            header.num_readonly_signed_accounts
//	u8                            header.num_readonly_unsigned_accounts
//	count ‖ 32 bytes each         account_keys
//	32 bytes                      recent_blockhash
//	count ‖ instruction each      instructions
//	count ‖ lookup each           address_table_lookups, v0 only
func (t *Transaction) readMessage(c *cursor) (err error) {
	if err := t.readVersion(c); err != nil {
		return err
	}
	if err := t.readHeader(c); err != nil {
		return err
	}
	countAt := c.offset
	if t.keysAt, t.keys, err = c.counted(keySize, "account_keys"); err != nil {
		return err
	}
	if t.keys > maxAccounts {
		return malformed("account_keys", countAt, "%d keys, of at most %d", t.keys, maxAccounts)
	}
	if err := t.checkHeader(); err != nil {
		return err
	}
	if t.blockhashAt, err = c.skip(keySize, "recent_blockhash"); err != nil {
		return err
	}
	if err := t.readInstructions(c); err != nil {
		return err
	}
	if t.version == Legacy {
		return nil
	}
	return t.readLookups(c)
}

// readVersion reads the version, if there is one. A legacy message begins with the
// number of its signers instead, which is below 128.
func (t *Transaction) readVersion(c *cursor) error {
	offset := c.offset
	first, err := c.uint8("version")
	if err != nil {
		return err
	}
	switch {
	case first < prefixBit:
		t.version, c.offset = Legacy, offset
	case first == prefixBit:
		t.version = Version0
	case first == prefixBit|1:
		return malformed("version", offset, "a v1 message follows signature slots: it comes first, and its slots last, without a count")
	default:
		return unsupportedVersion(offset, first)
	}
	return nil
}

func (t *Transaction) readHeader(c *cursor) error {
	for _, field := range []struct {
		name  string
		value *int
	}{
		{"header.num_required_signatures", &t.header.required},
		{"header.num_readonly_signed_accounts", &t.header.readonlySigned},
		{"header.num_readonly_unsigned_accounts", &t.header.readonlyUnsigned},
	} {
		value, err := c.uint8(field.name)
		if err != nil {
			return err
		}
		*field.value = int(value)
	}
	return nil
}

func (t *Transaction) readInstructions(c *cursor) error {
	offset := c.offset
	count, err := c.compactU16("instructions")
	if err != nil {
		return err
	}
	if count > maxInstructions {
		return malformed("instructions", offset, "%d instructions, of at most %d", count, maxInstructions)
	}
	for i := range count {
		in, err := readInstruction(c)
		if err != nil {
			return within(err, "instructions", i)
		}
		t.instructions = append(t.instructions, in)
	}
	return nil
}

// readInstruction reads one instruction of a legacy or v0 message:
//
//	u8                    program_id_index
//	count ‖ u8 each       accounts
//	count ‖ bytes         data
func readInstruction(c *cursor) (in instruction, err error) {
	if in.programAt, err = c.skip(1, "program_id_index"); err != nil {
		return in, err
	}
	if in.accountsAt, in.numbers, err = c.counted(1, "accounts"); err != nil {
		return in, err
	}
	in.dataAt, in.size, err = c.counted(1, "data")
	return in, err
}

// item names one item of a list in a message: item("accounts", 2) is
// "accounts[2]".
func item(list string, index int) string { return fmt.Sprintf("%s[%d]", list, index) }

func duplicateKey(keysAt, first, second int, key []byte) error {
	return malformed(item("account_keys", second), keysAt+second*keySize, "is the same as account_keys[%d], %s", first, encode58(key))
}
