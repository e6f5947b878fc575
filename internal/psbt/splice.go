package psbt

import (
	"bytes"
	"cmp"
	"slices"
)

// Insertion is bytes to put into a PSBT, or to put in place of others.
type Insertion struct {
	At      int    // offset in the PSBT before which the bytes go
	Replace int    // how many bytes from there they replace
	Bytes   []byte // such as AppendRecord makes
}

// AppendSpliced appends raw with the insertions to dst. Every other byte stays as
// it is. Insertions at the same offset go in the order of their bytes, which for
// records with keys of one length is the order of the keys.
func AppendSpliced(dst, raw []byte, insertions []Insertion) []byte {
	slices.SortStableFunc(insertions, func(a, b Insertion) int {
		return cmp.Or(cmp.Compare(a.At, b.At), bytes.Compare(a.Bytes, b.Bytes))
	})
	size := len(raw)
	for i := range insertions {
		size += len(insertions[i].Bytes) - insertions[i].Replace
	}
	dst, at := slices.Grow(dst, size), 0
	for i := range insertions {
		dst = append(dst, raw[at:insertions[i].At]...)
		dst = append(dst, insertions[i].Bytes...)
		at = insertions[i].At + insertions[i].Replace
	}
	return append(dst, raw[at:]...)
}

// AppendRecord appends a record with the given key, its type first, and value.
func AppendRecord(out, key, value []byte) []byte {
	out = append(AppendCompactSize(out, uint64(len(key))), key...)
	out = append(AppendCompactSize(out, uint64(len(value))), value...)
	return out
}

// Encode writes the packet from its records. It is the inverse of Read: of a
// packet that was read it returns Raw again.
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
