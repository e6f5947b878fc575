package solana

// readMessage reads a legacy or v0 message. Counts are compact-u16.
//
//	0x80                          v0 only
//	u8                            header.num_required_signatures
//	u8                            header.num_readonly_signed_accounts
//	u8                            header.num_readonly_unsigned_accounts
//	count ‖ 32 bytes each         account_keys
//	32 bytes                      recent_blockhash
//	count ‖ instruction each      instructions:
//	  u8                          program_id_index
//	  count ‖ u8 each             accounts
//	  count ‖ bytes               data
//	count ‖ lookup each           address_table_lookups, v0 only
func (p *parser) readMessage() {
	p.readVersion()
	p.readHeader()
	countAt := p.offset
	if p.keysAt, p.keys = p.counted(keySize, "account_keys"); p.keys > maxAccounts {
		p.refuse("account_keys", countAt, "%d keys, of at most %d", p.keys, maxAccounts)
	}
	p.checkHeader()
	p.blockhashAt = p.skip(keySize, "recent_blockhash")
	offset := p.offset
	count := p.compactU16("instructions")
	if count > maxInstructions {
		p.refuse("instructions", offset, "%d instructions, of at most %d", count, maxInstructions)
	}
	for i := 0; i < count && p.err == nil; i++ {
		in := instruction{programAt: p.skip(1, "program_id_index")}
		in.accountsAt, in.numbers = p.counted(1, "accounts")
		in.dataAt, in.size = p.counted(1, "data")
		p.instructions = append(p.instructions, in)
		p.qualify("instructions", i)
	}
	if p.version != Legacy {
		p.readLookups()
	}
}

// readVersion reads the version, if there is one. A legacy message begins with the
// number of its signers instead, which is below 128.
func (p *parser) readVersion() {
	offset := p.offset
	switch first := p.uint8("version"); {
	case first < prefixBit:
		p.version, p.offset = Legacy, offset
	case first == prefixBit:
		p.version = Version0
	case first == prefixBit|1:
		p.refuse("version", offset,
			"a v1 message follows signature slots: it comes first, and its slots last, without a count")
	default:
		p.refuseVersion(offset, first)
	}
}
