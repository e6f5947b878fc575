package solana

import "bytes"

// readLookups reads the address_table_lookups of a v0 message. Counts are
// compact-u16. A lookup is
//
//	32 bytes              account_key: of the table
//	count ‖ u8 each       writable_indexes
//	count ‖ u8 each       readonly_indexes
//
// The accounts that the lookups load follow the message's own: the writable ones of all
// lookups first, then the read-only ones.
func (p *parser) readLookups() error {
	offset := p.offset
	count, err := p.compactU16("address_table_lookups")
	if err != nil {
		return err
	}
	for i := range count {
		next, err := p.readLookup()
		if err == nil {
			err = p.checkLookup(next)
		}
		if err != nil {
			return within(err, "address_table_lookups", i)
		}
		p.lookups = append(p.lookups, next)
		p.loaded += next.writable + next.readonly
		p.loadedWritable += next.writable
	}
	if p.keys+p.loaded > maxAccounts {
		return malformed("address_table_lookups", offset, "%d keys and %d loaded accounts, of at most %d together",
			p.keys, p.loaded, maxAccounts)
	}
	return nil
}

func (p *parser) readLookup() (l lookup, err error) {
	if l.keyAt, err = p.skip(keySize, "account_key"); err != nil {
		return l, err
	}
	if l.writableAt, l.writable, err = p.counted(1, "writable_indexes"); err != nil {
		return l, err
	}
	l.readonlyAt, l.readonly, err = p.counted(1, "readonly_indexes")
	return l, err
}

// checkLookup refuses a lookup that loads nothing, that loads an entry twice, or whose
// table another lookup has.
func (p *parser) checkLookup(next lookup) error {
	if next.writable+next.readonly == 0 {
		return malformed("writable_indexes", next.writableAt-1, "the lookup loads no accounts")
	}
	for i, earlier := range p.lookups {
		if bytes.Equal(p.table(earlier), p.table(next)) {
			return malformed("account_key", next.keyAt, "is the same table as that of address_table_lookups[%d], %s", i, encode58(p.table(next)))
		}
	}
	var seen [256]bool
	for i, index := range p.writableIndexes(next) {
		if seen[index] {
			return malformed(item("writable_indexes", i), next.writableAt+i, "loads %d of the table a second time", index)
		}
		seen[index] = true
	}
	for i, index := range p.readonlyIndexes(next) {
		if seen[index] {
			return malformed(item("readonly_indexes", i), next.readonlyAt+i, "loads %d of the table a second time", index)
		}
		seen[index] = true
	}
	return nil
}
