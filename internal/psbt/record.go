package psbt

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
)

// Record is one key-value pair of a map: a view over the PSBT's bytes.
type Record struct {
	Offset int    // of the record's first byte in the PSBT
	Type   uint64 // the key type, such as InPartialSig
	Key    []byte // the whole key: its type as a compact size, and the key data
	Value  []byte
}

// Data returns the key data: what follows the type in the key.
func (r *Record) Data() []byte { return r.Key[CompactSizeLen(r.Type):] }

// DataOffset is the offset of the key data in the PSBT.
func (r *Record) DataOffset() int {
	return r.Offset + CompactSizeLen(uint64(len(r.Key))) + CompactSizeLen(r.Type)
}

// ValueOffset is the offset of the value in the PSBT.
func (r *Record) ValueOffset() int {
	return r.Offset + CompactSizeLen(uint64(len(r.Key))) + len(r.Key) + CompactSizeLen(uint64(len(r.Value)))
}

// Map is the records of one map, in their order.
type Map struct {
	Records []Record
	End     int // offset of the 00 that ends the map
}

// Find returns the first record of a type, nil if there is none. A map has a field
// without key data at most once.
func (m *Map) Find(keyType uint64) *Record {
	for i := range m.Records {
		if m.Records[i].Type == keyType {
			return &m.Records[i]
		}
	}
	return nil
}

// Get returns the record with a key, its type first, nil if there is none.
func (m *Map) Get(key []byte) *Record {
	for i := range m.Records {
		if bytes.Equal(m.Records[i].Key, key) {
			return &m.Records[i]
		}
	}
	return nil
}

// Value returns the value of the first record of a type, nil if there is none.
func (m *Map) Value(keyType uint64) []byte {
	if record := m.Find(keyType); record != nil {
		return record.Value
	}
	return nil
}

// All returns the records of a type.
func (m *Map) All(keyType uint64) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for i := range m.Records {
			if m.Records[i].Type == keyType && !yield(&m.Records[i]) {
				return
			}
		}
	}
}

// InsertAt returns the offset at which a record with this key belongs: before the first
// record whose key sorts after it, or else at the end of the map.
func (m *Map) InsertAt(key []byte) int {
	for i := range m.Records {
		if bytes.Compare(m.Records[i].Key, key) > 0 {
			return m.Records[i].Offset
		}
	}
	return m.End
}

// readMap reads records up to the 00 that ends the map. All maps of a PSBT share one
// growing slice of records.
func readMap(c *cursor, all *[]Record) (Map, error) {
	first := len(*all)
	sorted := true
	for {
		offset, key := c.offset(), c.sized()
		if c.err != nil {
			return Map{}, c.err
		}
		if len(key) == 0 {
			records := (*all)[first:len(*all):len(*all)]
			return Map{records, offset}, refuseDuplicates(records, sorted)
		}
		typed := cursor{data: key, base: c.offset() - len(key)}
		record := Record{Offset: offset, Key: key, Type: typed.compactSize()}
		if record.Value = c.sized(); typed.err != nil || c.err != nil {
			return Map{}, cmp.Or(typed.err, c.err)
		}
		if n := len(*all); n > first && bytes.Compare((*all)[n-1].Key, key) >= 0 {
			sorted = false
		}
		*all = append(*all, record)
	}
}

// refuseDuplicates refuses a key that is in a map twice. Ascending keys, which most
// writers produce, cannot repeat.
func refuseDuplicates(records []Record, sorted bool) error {
	if sorted {
		return nil
	}
	seen := make(map[string]struct{}, len(records))
	for i := range records {
		if _, twice := seen[string(records[i].Key)]; twice {
			return &fault{records[i].Offset, fmt.Sprintf("key %x stands twice in the map", records[i].Key)}
		}
		seen[string(records[i].Key)] = struct{}{}
	}
	return nil
}
