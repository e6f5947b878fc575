package descriptors

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// readOptional decodes a bool, or a value that may be absent. A prefix must be 0 or 1.
func (r *wireReader) readOptional(name string, t *wireType) error {
	switch t.kind {
	case wireRestOption:
		if len(r.data) == 0 {
			r.add(name, "none")
			return nil
		}
		return r.read(name, t.element)
	case wireZeroable:
		if bytes.HasPrefix(r.data, t.constant) {
			r.data = r.data[len(t.constant):]
			r.add(name, "none")
			return nil
		}
		return r.read(name, t.element)
	}
	flag, err := r.readPrefix(t.prefix)
	switch {
	case err != nil:
		return err
	case flag > 1:
		return fmt.Errorf("%s: %d is neither 0 nor 1", name, flag)
	case t.kind == wireBool:
		r.add(name, fmt.Sprint(flag == 1))
	case flag == 0:
		r.add(name, "none")
		return r.zeros(name, t.size)
	default:
		return r.read(name, t.element)
	}
	return nil
}

// zeros reads bytes that must be zero.
func (r *wireReader) zeros(name string, size int) error {
	raw, err := r.take(size)
	if err == nil && slices.ContainsFunc(raw, func(b byte) bool { return b != 0 }) {
		err = fmt.Errorf("%s: the padding is not zero", name)
	}
	return err
}

func (r *wireReader) readMembers(name string, members []wireMember) error {
	for _, member := range members {
		if err := r.read(joined(name, member.name), member.wireType); err != nil {
			return err
		}
	}
	return nil
}

func (r *wireReader) readEnum(name string, t *wireType) error {
	number, err := r.readPrefix(t.prefix)
	if err != nil {
		return err
	}
	index := slices.Index(t.tags, number)
	if t.tags == nil && number < uint64(len(t.members)) {
		index = int(number)
	}
	if index < 0 {
		return fmt.Errorf("%s: there is no variant %d", name, number)
	}
	variant := t.members[index]
	r.add(name, variant.name)
	return r.readMembers(joined(name, variant.name), variant.members)
}

func (r *wireReader) readList(name string, t *wireType) (err error) {
	count := t.size
	switch t.kind {
	case wireList:
		if count, err = r.count(t.prefix); err != nil {
			return err
		}
	case wireRestList:
		count = len(r.data) // at most: an element has at least one byte
	}
	if t.element.kind == wireNumber && t.element.size == 1 && !t.element.signed {
		return r.within(count, func() error { return r.readOctets(name, &wireType{kind: wireBytes}, t.kind != wireArray) })
	}
	for i := 0; i < count && (t.kind != wireRestList || len(r.data) > 0); i++ {
		if err := r.read(fmt.Sprintf("%s.%d", name, i), t.element); err != nil {
			return err
		}
	}
	return nil
}

// readOctets reads all remaining bytes as a text or as bytes. Bytes of a fixed length are
// a value, such as a hash. Bytes of any length are opaque: their meaning is not known.
func (r *wireReader) readOctets(name string, t *wireType, opaque bool) error {
	raw := r.data
	r.data = nil
	shown := raw[:min(len(raw), maxText)]
	switch {
	case t.kind == wireText && utf8.Valid(raw):
		r.add(name, string(shown))
	case t.kind == wireText:
		return fmt.Errorf("%s: not UTF-8", name)
	default:
		if r.add(name, fmt.Sprintf("0x%x", shown)); opaque && len(raw) > 0 {
			r.unread("argument %s is bytes whose meaning is not known", name)
		}
	}
	if len(raw) > maxText {
		r.unread("argument %s is too long", name)
	}
	return nil
}

// within calls read with the next size bytes as the data. It must read all of them.
func (r *wireReader) within(size int, read func() error) error {
	part, err := r.take(size)
	if err != nil {
		return err
	}
	rest := r.data
	r.data = part
	if err = read(); err == nil && len(r.data) > 0 {
		err = fmt.Errorf("%d bytes of an argument are left over", len(r.data))
	}
	r.data = rest
	return err
}

// readWithin decodes a value that another part of the encoding bounds or surrounds.
func (r *wireReader) readWithin(name string, t *wireType) error {
	element := func() error { return r.read(name, t.element) }
	switch t.kind {
	case wireSized:
		size, err := r.count(t.prefix)
		if err != nil {
			return err
		}
		return r.within(size, element)
	case wireFixed:
		return r.within(t.size, func() error { return r.readPadded(name, t.element) })
	case wireTerminated:
		size := bytes.Index(r.data, t.constant)
		if err := r.within(size, element); err != nil {
			return err
		}
		return r.constant(name, t)
	case wireAfterConstant:
		if err := r.constant(name, t); err != nil {
			return err
		}
		return element()
	default: // wireBeforeConstant
		if err := element(); err != nil {
			return err
		}
		return r.constant(name, t)
	}
}

// readPadded decodes a value that is padded with zeros. Bytes include the padding; a text
// ends before it.
func (r *wireReader) readPadded(name string, t *wireType) error {
	switch t.kind {
	case wireBytes:
		return r.readOctets(name, t, false)
	case wireText:
		r.data = bytes.TrimRight(r.data, "\x00")
	}
	if err := r.read(name, t); err != nil {
		return err
	}
	return r.zeros(name, len(r.data))
}

func (r *wireReader) constant(name string, t *wireType) error {
	raw, err := r.take(len(t.constant))
	if err == nil && !bytes.Equal(raw, t.constant) {
		err = fmt.Errorf("%s: 0x%x, and the IDL has 0x%x", name, raw, t.constant)
	}
	return err
}
