package chains

// LookupTable is what is known of an address lookup table: a Solana account with a list
// of addresses, to which transactions refer by index.
type LookupTable struct {
	// Source, Digest and Trust are those of Reading.
	Source, Digest, Trust string

	// Addresses are the table's entries, 32 bytes each. They must not be changed. Entries
	// are only ever added to a table, so it may have more by now.
	Addresses [][]byte

	// Problem says why the table is not used. There are no Addresses then.
	Problem string
}

// TableUser is implemented by transactions that may load accounts from lookup tables.
type TableUser interface {
	// WithTables returns the transaction with the accounts that the tables hold in its
	// effects, hazards and calls. The Summary and the signed bytes do not change. The
	// readings, one for each table of which something is known, list the accounts that
	// were taken from it.
	WithTables(reader Reader) (Transaction, Readings)
}

// ReadWith reads a transaction with what is known in addition to its bytes: its accounts
// in lookup tables, and then its calls. Without a reader
// it returns the transaction unchanged and no readings.
func ReadWith(tx Transaction, reader Reader) (Transaction, Readings) {
	if reader == nil {
		return tx, nil
	}
	var readings Readings
	if user, ok := tx.(TableUser); ok {
		tx, readings = user.WithTables(reader)
	}
	if caller, ok := tx.(Caller); ok {
		for _, call := range caller.Calls() {
			if reading, ok := reader.Read(call); ok {
				reading.Path = call.Path
				readings = append(readings, reading)
			}
		}
	}
	return tx, readings
}
