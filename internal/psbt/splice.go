package psbt

import (
	"bytes"
	"cmp"
	"slices"
)

// Insertion is bytes to insert into a PSBT, or to replace others with.
type Insertion struct {
	At      int    // offset in the PSBT before which the bytes go
	Replace int    // how many bytes from there they replace
	Bytes   []byte // such as a record by AppendRecord
}

// AppendSpliced appends raw with the insertions to dst. Every other byte stays unchanged.
// Insertions at the same offset are ordered by their bytes after the first: for records, whose
// first byte is the length of the key, that is the order of the keys. It sorts insertions in place.
func AppendSpliced(dst, raw []byte, insertions []Insertion) []byte {
	slices.SortStableFunc(insertions, func(a, b Insertion) int {
		return cmp.Or(cmp.Compare(a.At, b.At), bytes.Compare(a.Bytes[1:], b.Bytes[1:]), bytes.Compare(a.Bytes, b.Bytes))
	})
	size := len(raw)
	for i := range insertions {
		size += len(insertions[i].Bytes) - insertions[i].Replace
	}
	dst, copied := slices.Grow(dst, size), 0
	for i := range insertions {
		dst = append(dst, raw[copied:insertions[i].At]...)
		dst = append(dst, insertions[i].Bytes...)
		copied = insertions[i].At + insertions[i].Replace
	}
	return append(dst, raw[copied:]...)
}

// AppendRecord appends a record with the given key, its type first, and value.
func AppendRecord(out, key, value []byte) []byte {
	out = append(AppendCompactSize(out, uint64(len(key))), key...)
	out = append(AppendCompactSize(out, uint64(len(value))), value...)
	return out
}

// Encode encodes the packet from its records. It is the inverse of Read: for a packet
// that was read it returns Raw.
func (p *Packet) Encode() []byte {
	out := append(make([]byte, 0, len(p.Raw)), magic...)
	out = p.Global.append(out)
	for i := range p.Inputs {
		out = p.Inputs[i].append(out)
	}
	for i := range p.Outputs {
		out = p.Outputs[i].append(out)
	}
	return out
}

func (m *Map) append(out []byte) []byte {
	for i := range m.Records {
		out = AppendRecord(out, m.Records[i].Key, m.Records[i].Value)
	}
	return append(out, 0)
}
