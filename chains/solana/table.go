package solana

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

var _ chains.TableUser = (*Transaction)(nil)

// WithTables implements chains.TableUser. The table of a lookup has the path
// address_table_lookups/N, and its reading lists the entries that are loaded.
//
// A table that would load an account a second time is not used: no node executes such
// a transaction.
func (t *Transaction) WithTables(tables chains.TableReader) (chains.Transaction, chains.Readings) {
	if len(t.lookups) == 0 {
		return t, nil
	}
	made := *t
	made.known = make([][]byte, t.loaded)
	named := map[string]bool{}
	for i := range t.keys {
		named[string(t.key(i))] = true
	}
	var readings chains.Readings
	writable, readonly := made.known[:t.loadedWritable], made.known[t.loadedWritable:]
	for i, l := range t.lookups {
		if table, ok := tables.LookupTable(t.table(l)); ok {
			reading := t.load(l, table, named, writable[:l.writable], readonly[:l.readonly])
			reading.Path = fmt.Sprintf("address_table_lookups/%d", i)
			readings = append(readings, reading)
		}
		writable, readonly = writable[l.writable:], readonly[l.readonly:]
	}
	return &made, readings
}

// load fills in the accounts that a lookup takes from its table, and says which.
func (t *Transaction) load(l lookup, table chains.LookupTable, named map[string]bool, writable, readonly [][]byte) chains.Reading {
	reading := chains.Reading{Source: table.Source, Digest: table.Digest, Trust: table.Trust, Problem: table.Problem}
	entries, err := t.entriesOf(l, table.Addresses, named)
	switch {
	case table.Problem != "":
		return reading
	case err != nil:
		reading.Problem = err.Error()
		return reading
	}
	reading.Complete = true
	for _, e := range entries {
		if e.address == nil {
			reading.Complete = false
			reading.Problem = fmt.Sprintf("it has %d entries, and the transaction loads entry %d: supply the table as it is today", len(table.Addresses), e.index)
			continue
		}
		named[string(e.address)] = true
		reading.Fields = append(reading.Fields, chains.AddressField(fmt.Sprintf("entry %d", e.index), encode58(e.address)))
	}
	for i, e := range entries {
		if i < l.writable {
			writable[i] = e.address
		} else {
			readonly[i-l.writable] = e.address
		}
	}
	return reading
}

// entry is an entry of a lookup table; its address is nil if it is not known.
type entry struct {
	index   byte
	address []byte
}

// entriesOf returns the entries that a lookup loads, the writable ones first. None of
// them may be an account that is named already.
func (t *Transaction) entriesOf(l lookup, addresses [][]byte, named map[string]bool) ([]entry, error) {
	entries := make([]entry, 0, l.writable+l.readonly)
	here := map[string]bool{}
	for _, indexes := range [][]byte{t.writableIndexes(l), t.readonlyIndexes(l)} {
		for _, index := range indexes {
			e := entry{index: index}
			if int(index) < len(addresses) {
				e.address = addresses[index]
				if named[string(e.address)] || here[string(e.address)] {
					return nil, fmt.Errorf("entry %d is %s, which the transaction names already: the network refuses it", index, encode58(e.address))
				}
				here[string(e.address)] = true
			}
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// withoutTables returns the transaction as the bytes alone tell it.
func (t *Transaction) withoutTables() *Transaction {
	if t.known == nil {
		return t
	}
	plain := *t
	plain.known = nil
	return &plain
}
