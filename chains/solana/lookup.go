package solana

import "bytes"

// readLookups reads the address_table_lookups of a v0 message. Counts are compact-u16. A lookup is
//
//	32 bytes              account_key: of the table
//	count ‖ u8 each       writable_indexes
//	count ‖ u8 each       readonly_indexes
//
// The accounts that the lookups load follow the message's own: the writable ones of all
// lookups first, then the read-only ones.
func (p *parser) readLookups() {
	offset := p.offset
	count := p.compactU16("address_table_lookups")
	for i := 0; i < count && p.err == nil; i++ {
		next := p.readLookup()
		p.qualify("address_table_lookups", i)
		p.lookups = append(p.lookups, next)
		p.loaded += next.writable + next.readonly
		p.loadedWritable += next.writable
	}
	if p.keys+p.loaded > maxAccounts {
		p.refuse("address_table_lookups", offset, "%d keys and %d loaded accounts, of at most %d together",
			p.keys, p.loaded, maxAccounts)
	}
}

// readLookup refuses a lookup that loads nothing, that loads an entry twice, or whose
// table another lookup has.
func (p *parser) readLookup() (next lookup) {
	next.keyAt = p.skip(keySize, "account_key")
	next.writableAt, next.writable = p.counted(1, "writable_indexes")
	next.readonlyAt, next.readonly = p.counted(1, "readonly_indexes")
	if p.err != nil {
		return next
	}
	if next.writable+next.readonly == 0 {
		p.refuse("writable_indexes", next.writableAt-1, "the lookup loads no accounts")
	}
	for i, earlier := range p.lookups {
		if bytes.Equal(p.table(earlier), p.table(next)) {
			p.refuse("account_key", next.keyAt, "is the same table as that of address_table_lookups[%d], %s", i,
				encode58(p.table(next)))
		}
	}
	var seen [256]bool
	refuseTwice := func(list string, at int, indexes []byte) {
		for i, index := range indexes {
			if seen[index] {
				p.refuse(item(list, i), at+i, "loads %d of the table a second time", index)
			}
			seen[index] = true
		}
	}
	refuseTwice("writable_indexes", next.writableAt, p.writableIndexes(next))
	refuseTwice("readonly_indexes", next.readonlyAt, p.readonlyIndexes(next))
	return next
}
