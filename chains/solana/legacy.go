package solana

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
func (p *parser) readMessage() (err error) {
	if err := p.readVersion(); err != nil {
		return err
	}
	if err := p.readHeader(); err != nil {
		return err
	}
	countAt := p.offset
	if p.keysAt, p.keys, err = p.counted(keySize, "account_keys"); err != nil {
		return err
	}
	if p.keys > maxAccounts {
		return malformed("account_keys", countAt, "%d keys, of at most %d", p.keys, maxAccounts)
	}
	if err := p.checkHeader(); err != nil {
		return err
	}
	if p.blockhashAt, err = p.skip(keySize, "recent_blockhash"); err != nil {
		return err
	}
	if err := p.readInstructions(); err != nil {
		return err
	}
	if p.version == Legacy {
		return nil
	}
	return p.readLookups()
}

// readVersion reads the version, if there is one. A legacy message begins with the
// number of its signers instead, which is below 128.
func (p *parser) readVersion() error {
	offset := p.offset
	first, err := p.uint8("version")
	if err != nil {
		return err
	}
	switch {
	case first < prefixBit:
		p.version, p.offset = Legacy, offset
	case first == prefixBit:
		p.version = Version0
	case first == prefixBit|1:
		return malformed("version", offset, "a v1 message follows signature slots: it comes first, and its slots last, without a count")
	default:
		return unsupportedVersion(offset, first)
	}
	return nil
}

func (p *parser) readInstructions() error {
	offset := p.offset
	count, err := p.compactU16("instructions")
	if err != nil {
		return err
	}
	if count > maxInstructions {
		return malformed("instructions", offset, "%d instructions, of at most %d", count, maxInstructions)
	}
	for i := range count {
		in, err := p.readInstruction()
		if err != nil {
			return within(err, "instructions", i)
		}
		p.instructions = append(p.instructions, in)
	}
	return nil
}

// readInstruction reads one instruction of a legacy or v0 message:
//
//	u8                    program_id_index
//	count ‖ u8 each       accounts
//	count ‖ bytes         data
func (p *parser) readInstruction() (in instruction, err error) {
	if in.programAt, err = p.skip(1, "program_id_index"); err != nil {
		return in, err
	}
	if in.accountsAt, in.numbers, err = p.counted(1, "accounts"); err != nil {
		return in, err
	}
	in.dataAt, in.size, err = p.counted(1, "data")
	return in, err
}

func duplicateKey(keysAt, first, second int, key []byte) error {
	return malformed(item("account_keys", second), keysAt+second*keySize, "is the same as account_keys[%d], %s", first, encode58(key))
}
