package descriptors

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/countersign-dev/countersign/chains"
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

// wireReader decodes arguments strictly, and lists them.
type wireReader struct {
	data    []byte
	args    []chains.Arg
	problem string // what was decoded, but is not understood
	steps   int    // values that may still be decoded
}

var errShort = errors.New("the data ends within an argument")

func (r *wireReader) take(size int) ([]byte, error) {
	if size < 0 || size > len(r.data) {
		return nil, errShort
	}
	part := r.data[:size]
	r.data = r.data[size:]
	return part, nil
}

func (r *wireReader) add(name, value string) {
	r.args = append(r.args, chains.Arg{Name: name, Value: value})
}

func (r *wireReader) unread(format string, values ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, values...)
	}
}

// read decodes a value of a type.
func (r *wireReader) read(name string, t *wireType) error {
	if r.steps--; r.steps < 0 || len(r.args) >= maxArgs {
		return fmt.Errorf("more than %d arguments", maxArgs)
	}
	switch t.kind {
	case wireNumber, wireFloat, wireCompact:
		return r.readNumber(name, t)
	case wireKey:
		raw, err := r.take(32)
		if err == nil {
			r.add(name, base58.Encode(raw))
		}
		return err
	case wireBytes, wireText:
		return r.readOctets(name, t, true)
	case wireStruct:
		return r.readMembers(name, t.members)
	case wireBool, wireOption, wireZeroable, wireRestOption:
		return r.readOptional(name, t)
	case wireEnum:
		return r.readEnum(name, t)
	case wireList, wireArray, wireRestList:
		return r.readList(name, t)
	}
	return r.readWithin(name, t)
}

func (r *wireReader) readNumber(name string, t *wireType) error {
	if t.kind == wireCompact {
		number, err := r.compact()
		r.add(name, strconv.Itoa(number))
		return err
	}
	raw, err := r.take(t.size)
	switch {
	case err != nil:
		return err
	case t.kind == wireNumber:
		r.add(name, t.integer(raw).String())
	case t.size == 4:
		r.add(name, strconv.FormatFloat(float64(math.Float32frombits(uint32(t.integer(raw).Uint64()))), 'g', -1, 32))
	default:
		r.add(name, strconv.FormatFloat(math.Float64frombits(t.integer(raw).Uint64()), 'g', -1, 64))
	}
	return nil
}

// compact reads a compact-u16 in its shortest form.
func (r *wireReader) compact() (number int, err error) {
	for shift := 0; shift < 21; shift += 7 {
		raw, err := r.take(1)
		if err != nil {
			return 0, err
		}
		number |= int(raw[0]&0x7f) << shift
		if raw[0] < 0x80 {
			if shift > 0 && raw[0] == 0 || number > math.MaxUint16 {
				break
			}
			return number, nil
		}
	}
	return 0, errors.New("a compact-u16 is not in its shortest form")
}

// readPrefix reads a number that precedes something.
func (r *wireReader) readPrefix(t *wireType) (uint64, error) {
	if t.kind == wireCompact {
		number, err := r.compact()
		return uint64(number), err
	}
	raw, err := r.take(t.size)
	if err != nil {
		return 0, err
	}
	number := t.integer(raw)
	if !number.IsUint64() {
		return 0, fmt.Errorf("%s is not a valid prefix", number)
	}
	return number.Uint64(), nil
}

// count reads a number of bytes, or of elements that have at least one byte.
func (r *wireReader) count(prefix *wireType) (int, error) {
	number, err := r.readPrefix(prefix)
	if err == nil && number > uint64(len(r.data)) {
		err = errShort
	}
	return int(number), err
}

// joined returns the path of a member.
func joined(name, member string) string {
	if name == "" {
		return member
	}
	return name + "." + member
}
