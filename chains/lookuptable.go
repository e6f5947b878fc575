package chains

// LookupTable is what is known of an address lookup table: an account of Solana with a
// list of addresses, which transactions name by their index in it.
type LookupTable struct {
	// Source, Digest and Trust are as in Reading.
	Source, Digest, Trust string

	// Addresses are the table's, 32 bytes each. They must not be changed. A table grows,
	// and what it has stays: these may be fewer than it has today.
	Addresses [][]byte

	// Problem says why the table is not used. It has no Addresses then.
	Problem string
}

// TableReader is a Reader that knows what lookup tables hold. The bytes of a
// transaction do not commit to that: whoever supplies a table decides whom an effect
// names. It must come from the operator of the engine, never with a request.
type TableReader interface {
	// LookupTable returns the table at an address of 32 bytes, ok if there is
	// something to say of it.
	LookupTable(address []byte) (table LookupTable, ok bool)
}

// TableUser is implemented by transactions whose accounts may stand in lookup tables.
type TableUser interface {
	// WithTables returns the transaction with the accounts that the tables hold: they
	// are in its effects, its hazards and its calls. Its Summary is what it was, and
	// so are the bytes that are signed. The readings say which accounts were taken
	// from where, one for each table of which something is known.
	WithTables(tables TableReader) (Transaction, Readings)
}

// ReadWith reads a transaction with what is known beside its bytes: its accounts in
// lookup tables, if the reader is a TableReader, and then its calls. Without a reader
// the transaction is as it was, and there are no readings.
func ReadWith(tx Transaction, reader Reader) (Transaction, Readings) {
	if reader == nil {
		return tx, nil
	}
	var readings Readings
	if tables, ok := reader.(TableReader); ok {
		if user, ok := tx.(TableUser); ok {
			tx, readings = user.WithTables(tables)
		}
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
