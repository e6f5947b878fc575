package solana

import (
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

var _ chains.TableUser = (*Transaction)(nil)

// WithTables implements chains.TableUser. The table of the N-th lookup has the path
// address_table_lookups/N, and its reading lists the entries that are loaded.
//
// A table that would load an account a second time is not used: the network refuses
// such a transaction.
func (t *Transaction) WithTables(reader chains.Reader) (chains.Transaction, chains.Readings) {
	if len(t.lookups) == 0 {
		return t, nil
	}
	resolved := *t
	resolved.fromTables = make([][]byte, t.loaded)
	named := map[string]bool{}
	for i := range t.keys {
		named[string(t.key(i))] = true
	}
	var readings chains.Readings
	writable, readonly := resolved.fromTables[:t.loadedWritable], resolved.fromTables[t.loadedWritable:]
	for i, l := range t.lookups {
		if table, ok := reader.LookupTable(t.table(l)); ok {
			reading, accounts := t.load(l, table, named)
			reading.Path = fmt.Sprintf("address_table_lookups/%d", i)
			readings = append(readings, reading)
			copy(readonly, accounts[copy(writable[:l.writable], accounts):])
		}
		writable, readonly = writable[l.writable:], readonly[l.readonly:]
	}
	return &resolved, readings
}

// load returns the accounts that a lookup takes from its table, the writable ones
// first, and a reading that lists them. An account whose entry is not known is nil;
// there are none if the table is not used. None of them may be among the accounts that
// are named already, to which they are added.
func (t *Transaction) load(
	l lookup, table chains.LookupTable, named map[string]bool,
) (reading chains.Reading, accounts [][]byte) {
	reading = chains.Reading{Source: table.Source, Digest: table.Digest, Trust: table.Trust, Problem: table.Problem}
	if table.Problem != "" {
		return reading, nil
	}
	missing, seen := "", maps.Clone(named)
	for _, index := range slices.Concat(t.writableIndexes(l), t.readonlyIndexes(l)) {
		if int(index) >= len(table.Addresses) {
			accounts = append(accounts, nil)
			missing = fmt.Sprintf("it has %d entries, and the transaction loads entry %d: "+
				"supply the table as it is today", len(table.Addresses), index)
			continue
		}
		address := table.Addresses[index]
		if seen[string(address)] {
			reading.Fields = nil
			reading.Problem = fmt.Sprintf("entry %d is %s, which the transaction names already: "+
				"the network refuses it", index, encode58(address))
			return reading, nil
		}
		seen[string(address)] = true
		accounts = append(accounts, address)
		reading.Fields = append(reading.Fields, chains.AddressField(fmt.Sprintf("entry %d", index), encode58(address)))
	}
	maps.Copy(named, seen)
	reading.Complete, reading.Problem = missing == "", missing
	return reading, accounts
}
