package tron

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// read reads the message in raw[at:end] and records where its fields are. It accepts
// the canonical encoding only: fields in ascending order, each once unless it is
// repeated, no default written out, nothing unknown.
func (m *message) read(raw []byte, offset, end int, into []value) error {
	next := 0 // the first field that may still come
	for offset < end {
		number, wire, after, err := readTag(raw, offset, end, m.name)
		if err != nil {
			return err
		}
		index, err := m.find(number, next, offset)
		if err != nil {
			return err
		}
		if offset, err = m.readField(raw, offset, after, end, wire, index, into); err != nil {
			return err
		}
		next = index + 1
		if m.fields[index].repeated() {
			next = index
		}
	}
	for index := range m.fields {
		if f := &m.fields[index]; f.needed && !into[index].present() {
			return malformed(f.path, end, "missing: %s", f.need())
		}
	}
	if m.rule == nil {
		return nil
	}
	return m.rule(m, raw, into)
}

func (m *message) reread(raw []byte, span value) (v values) {
	if err := m.read(raw, span.from(), span.to(), v[:]); err != nil {
		panic("tron: a message that was read cannot be read again: " + err.Error())
	}
	return v
}

// find returns the index of the field with a number, at next or after it.
func (m *message) find(number uint64, next, offset int) (int, error) {
	for index := next; index < len(m.fields); index++ {
		if m.fields[index].number == number {
			return index, nil
		}
	}
	for index := range next {
		f := &m.fields[index]
		if f.number != number {
			continue
		}
		switch {
		case index == next-1 && f == &rawMessage.fields[rawContract]:
			return 0, malformed(f.path, offset, "several contracts: the network accepts exactly one")
		case index == next-1:
			return 0, malformed(f.path, offset, "repeated: this field comes once")
		}
		return 0, malformed(f.path, offset, "out of order: fields stand in ascending order, each once")
	}
	return 0, malformed(m.name, offset, "unknown field %d", number)
}

// readField reads the value of a field whose tag is at tag, and returns the offset of the next tag.
func (m *message) readField(
	raw []byte, tag, offset, end int, wire protowire.Type, index int, into []value,
) (next int, err error) {
	f, v := &m.fields[index], &into[index]
	if f.kind == kindRefused {
		return 0, malformed(f.path, tag, "%s", f.why)
	}
	if want := f.wire(); wire != want {
		return 0, malformed(f.path, tag, "wire type %s, want %s", wireName(wire), wireName(want))
	}
	if wire == protowire.VarintType {
		number, after, err := readVarint(raw, offset, end, f.path)
		if err != nil {
			return 0, err
		}
		*v = between(offset, after)
		v.number = int64(number)
		return after, f.checkNumber(*v)
	}
	length, from, err := readVarint(raw, offset, end, f.path)
	switch {
	case err != nil:
		return 0, err
	case length > math.MaxInt32 || int(length) > end-from:
		return 0, malformed(f.path, offset, "its length is %d, but only %d bytes are left", length, end-from)
	}
	to := from + int(length)
	if err := f.checkBytes(raw, from, to); err != nil {
		return 0, err
	}
	if f.repeated() && v.present() {
		v.end = int32(to)
		return to, nil
	}
	if *v = between(from, to); f.repeated() {
		v.start = int32(tag)
	}
	return to, nil
}

func (m *message) indexOf(wanted kind) int {
	for index := range m.fields {
		if m.fields[index].kind == wanted {
			return index
		}
	}
	panic("tron: " + m.name + " has no field of this kind") // a test walks the tables
}
