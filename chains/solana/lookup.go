package solana

import "bytes"

// lookup locates the parts of an address table lookup in the raw bytes.
type lookup struct {
	keyAt                int
	writableAt, writable int // one byte for each: its index in the table
	readonlyAt, readonly int
}

// readLookups reads the address_table_lookups of a v0 message. Counts are
// compact-u16. A lookup is
//
//	32 bytes              account_key: of the table
//	count ‖ u8 each       writable_indexes
//	count ‖ u8 each       readonly_indexes
//
// The accounts that the lookups load follow the message's own: the writable ones of all
// lookups first, then the read-only ones.
func (t *Transaction) readLookups(c *cursor) error {
	offset := c.offset
	count, err := c.compactU16("address_table_lookups")
	if err != nil {
		return err
	}
	for i := range count {
		next, err := readLookup(c)
		if err == nil {
			err = t.checkLookup(next)
		}
		if err != nil {
			return within(err, "address_table_lookups", i)
		}
		t.lookups = append(t.lookups, next)
		t.loaded += next.writable + next.readonly
		t.loadedWritable += next.writable
	}
	if t.keys+t.loaded > maxAccounts {
		return malformed("address_table_lookups", offset, "%d keys and %d loaded accounts, of at most %d together",
			t.keys, t.loaded, maxAccounts)
	}
	return nil
}

func readLookup(c *cursor) (l lookup, err error) {
	if l.keyAt, err = c.skip(keySize, "account_key"); err != nil {
		return l, err
	}
	if l.writableAt, l.writable, err = c.counted(1, "writable_indexes"); err != nil {
		return l, err
	}
	l.readonlyAt, l.readonly, err = c.counted(1, "readonly_indexes")
	return l, err
}

// checkLookup refuses a lookup that loads nothing, that loads an entry twice, or whose
// table another lookup has.
func (t *Transaction) checkLookup(next lookup) error {
	if next.writable+next.readonly == 0 {
		return malformed("writable_indexes", next.writableAt-1, "the lookup loads no accounts")
	}
	for i, earlier := range t.lookups {
		if bytes.Equal(t.table(earlier), t.table(next)) {
			return malformed("account_key", next.keyAt, "is the same table as that of address_table_lookups[%d], %s", i, encode58(t.table(next)))
		}
	}
	var seen [256]bool
	for i, index := range t.writableIndexes(next) {
		if seen[index] {
			return malformed(item("writable_indexes", i), next.writableAt+i, "loads %d of the table a second time", index)
		}
		seen[index] = true
	}
	for i, index := range t.readonlyIndexes(next) {
		if seen[index] {
			return malformed(item("readonly_indexes", i), next.readonlyAt+i, "loads %d of the table a second time", index)
		}
		seen[index] = true
	}
	return nil
}

func (t *Transaction) table(l lookup) []byte           { return t.raw[l.keyAt : l.keyAt+keySize] }
func (t *Transaction) writableIndexes(l lookup) []byte { return t.raw[l.writableAt:][:l.writable] }
func (t *Transaction) readonlyIndexes(l lookup) []byte { return t.raw[l.readonlyAt:][:l.readonly] }

// resolve returns the lookup that loads an account, and the account's index in the
// table. The account must not be one of the message's own keys.
func (t *Transaction) resolve(account int) (from lookup, index byte) {
	position := account - t.keys
	for _, l := range t.lookups {
		if position < l.writable {
			return l, t.writableIndexes(l)[position]
		}
		position -= l.writable
	}
	for _, l := range t.lookups {
		if position < l.readonly {
			return l, t.readonlyIndexes(l)[position]
		}
		position -= l.readonly
	}
	panic("solana: account index out of range in a transaction that was checked")
}
