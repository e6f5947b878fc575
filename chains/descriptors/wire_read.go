package descriptors

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
)

// wireReader decodes arguments strictly, and lists them. The first error is kept, and what is
// read after it is not used.
type wireReader struct {
	data    []byte
	args    []chains.Arg
	err     error
	problem string // what was decoded, but is not understood
	steps   int    // values that may still be decoded
}

var errShort = errors.New("the data ends within an argument")

func (r *wireReader) fail(err error) {
	r.err = cmp.Or(r.err, err)
}

// take returns the next size bytes, nil after an error.
func (r *wireReader) take(size int) []byte {
	if size < 0 || size > len(r.data) {
		r.fail(errShort)
	}
	if r.err != nil {
		return nil
	}
	part := r.data[:size]
	r.data = r.data[size:]
	return part
}

func (r *wireReader) add(name, value string) {
	r.args = append(r.args, chains.Arg{Name: name, Value: value})
}

func (r *wireReader) unread(format string, values ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, values...)
	}
}

func (r *wireReader) read(name string, t *wireType) {
	if r.steps--; r.steps < 0 || len(r.args) >= maxArgs {
		r.fail(fmt.Errorf("more than %d arguments", maxArgs))
	}
	if r.err != nil {
		return
	}
	switch t.kind {
	case wireNumber, wireFloat, wireCompact:
		r.readNumber(name, t)
	case wireKey:
		r.add(name, base58.Encode(r.take(32)))
	case wireBytes, wireText:
		r.readOctets(name, t, true)
	case wireStruct:
		r.readMembers(name, t.members)
	case wireBool, wireOption, wireZeroable, wireRestOption:
		r.readOptional(name, t)
	case wireEnum:
		r.readEnum(name, t)
	case wireList, wireArray, wireRestList:
		r.readList(name, t)
	default:
		r.readWithin(name, t)
	}
}

func (r *wireReader) readNumber(name string, t *wireType) {
	if t.kind == wireCompact {
		r.add(name, strconv.FormatUint(r.compact(), 10))
		return
	}
	raw := r.take(t.size)
	switch {
	case r.err != nil:
	case t.kind == wireNumber:
		r.add(name, t.integer(raw).String())
	case t.size == 4:
		r.add(name, strconv.FormatFloat(float64(math.Float32frombits(uint32(t.integer(raw).Uint64()))), 'g', -1, 32))
	default:
		r.add(name, strconv.FormatFloat(math.Float64frombits(t.integer(raw).Uint64()), 'g', -1, 64))
	}
}

// compact reads a compact-u16 in its shortest form.
func (r *wireReader) compact() (number uint64) {
	for shift := 0; shift < 21; shift += 7 {
		raw := r.take(1)
		if r.err != nil {
			return 0
		}
		number |= uint64(raw[0]&0x7f) << shift
		if raw[0] < 0x80 {
			if shift > 0 && raw[0] == 0 || number > math.MaxUint16 {
				break
			}
			return number
		}
	}
	r.fail(errors.New("a compact-u16 is not in its shortest form"))
	return 0
}

func (r *wireReader) readPrefix(t *wireType) uint64 {
	if t.kind == wireCompact {
		return r.compact()
	}
	raw := r.take(t.size)
	if r.err != nil {
		return 0
	}
	number := t.integer(raw)
	if !number.IsUint64() {
		r.fail(fmt.Errorf("%s is not a valid prefix", number))
	}
	return number.Uint64()
}

// count reads a number of bytes, or of elements that have at least one byte.
func (r *wireReader) count(prefix *wireType) int {
	number := r.readPrefix(prefix)
	if number > uint64(len(r.data)) {
		r.fail(errShort)
		return 0
	}
	return int(number)
}

func joined(name, member string) string {
	if name == "" {
		return member
	}
	return name + "." + member
}

// readOptional decodes a bool, or a value that may be absent. A prefix must be 0 or 1.
func (r *wireReader) readOptional(name string, t *wireType) {
	switch {
	case t.kind == wireRestOption && len(r.data) == 0:
		r.add(name, "none")
		return
	case t.kind == wireZeroable && bytes.HasPrefix(r.data, t.constant):
		r.take(len(t.constant))
		r.add(name, "none")
		return
	case t.kind == wireRestOption || t.kind == wireZeroable:
		r.read(name, t.element)
		return
	}
	switch flag := r.readPrefix(t.prefix); {
	case flag > 1:
		r.fail(fmt.Errorf("%s: %d is neither 0 nor 1", name, flag))
	case t.kind == wireBool:
		r.add(name, fmt.Sprint(flag == 1))
	case flag == 0:
		r.add(name, "none")
		r.zeros(name, t.size)
	default:
		r.read(name, t.element)
	}
}

func (r *wireReader) zeros(name string, size int) {
	if !allZero(r.take(size)) {
		r.fail(fmt.Errorf("%s: the padding is not zero", name))
	}
}

func (r *wireReader) readMembers(name string, members []wireMember) {
	for _, member := range members {
		r.read(joined(name, member.name), member.wireType)
	}
}

func (r *wireReader) readEnum(name string, t *wireType) {
	number := r.readPrefix(t.prefix)
	index := slices.Index(t.tags, number)
	if t.tags == nil && number < uint64(len(t.members)) {
		index = int(number)
	}
	if index < 0 {
		r.fail(fmt.Errorf("%s: there is no variant %d", name, number))
		return
	}
	variant := t.members[index]
	r.add(name, variant.name)
	r.readMembers(joined(name, variant.name), variant.members)
}

func (r *wireReader) readList(name string, t *wireType) {
	count := t.size
	switch t.kind {
	case wireList:
		count = r.count(t.prefix)
	case wireRestList:
		count = len(r.data) // at most: an element has at least one byte
	}
	if t.element.kind == wireNumber && t.element.size == 1 && !t.element.signed {
		r.within(count, func() { r.readOctets(name, &wireType{kind: wireBytes}, t.kind != wireArray) })
		return
	}
	for i := 0; i < count && r.err == nil && (t.kind != wireRestList || len(r.data) > 0); i++ {
		r.read(fmt.Sprintf("%s.%d", name, i), t.element)
	}
}

// readOctets reads all remaining bytes as a text or as bytes. Bytes of a fixed length are
// a value, such as a hash. Bytes of any length are opaque: their meaning is not known.
func (r *wireReader) readOctets(name string, t *wireType, opaque bool) {
	raw := r.take(len(r.data))
	shown := raw[:min(len(raw), maxText)]
	switch {
	case t.kind == wireText && utf8.Valid(raw):
		r.add(name, string(shown))
	case t.kind == wireText:
		r.fail(fmt.Errorf("%s: not UTF-8", name))
	default:
		if r.add(name, fmt.Sprintf("0x%x", shown)); opaque && len(raw) > 0 {
			r.unread("argument %s is bytes whose meaning is not known", name)
		}
	}
	if len(raw) > maxText {
		r.unread("argument %s is too long", name)
	}
}

// within calls read with the next size bytes as the data. It must read all of them.
func (r *wireReader) within(size int, read func()) {
	part := r.take(size)
	rest := r.data
	r.data = part
	if read(); len(r.data) > 0 {
		r.fail(fmt.Errorf("%d bytes of an argument are left over", len(r.data)))
	}
	r.data = rest
}

// readWithin decodes a value that another part of the encoding bounds or surrounds.
func (r *wireReader) readWithin(name string, t *wireType) {
	element := func() { r.read(name, t.element) }
	switch t.kind {
	case wireSized:
		r.within(r.count(t.prefix), element)
	case wireFixed:
		r.within(t.size, func() { r.readPadded(name, t.element) })
	case wireTerminated:
		r.within(bytes.Index(r.data, t.constant), element)
		r.constant(name, t)
	case wireAfterConstant:
		r.constant(name, t)
		element()
	default: // wireBeforeConstant
		element()
		r.constant(name, t)
	}
}

// readPadded decodes a value that is padded with zeros. Bytes include the padding; a text
// ends before it.
func (r *wireReader) readPadded(name string, t *wireType) {
	switch t.kind {
	case wireBytes:
		r.readOctets(name, t, false)
		return
	case wireText:
		r.data = bytes.TrimRight(r.data, "\x00")
	}
	r.read(name, t)
	r.zeros(name, len(r.data))
}

func (r *wireReader) constant(name string, t *wireType) {
	if raw := r.take(len(t.constant)); !bytes.Equal(raw, t.constant) {
		r.fail(fmt.Errorf("%s: 0x%x, and the IDL has 0x%x", name, raw, t.constant))
	}
}
