package descriptors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
)

// borshKind is what a Borsh type is.
type borshKind uint8

const (
	borshNumber borshKind = iota // little-endian, of size bytes
	borshBool
	borshKey    // 32 bytes of an account
	borshBytes  // u32 length, bytes
	borshText   // u32 length, UTF-8
	borshStruct // members in order
	borshOption // u8, and if it is 1 the element
	borshVec    // u32 count, elements
	borshArray  // size elements
	borshEnum   // u8 index of a variant, and the variant's members
)

// borshType is a type of Borsh (https://borsh.io), as Anchor's IDLs name them.
type borshType struct {
	kind    borshKind
	size    int
	signed  bool
	members []borshMember // of a struct; of an enum its variants
	element *borshType
}

type borshMember struct {
	name string
	*borshType
}

// borshReader reads arguments strictly, and lists them.
type borshReader struct {
	data    []byte
	args    []chains.Arg
	problem string // what is read, but not understood
	steps   int    // values that may still be read
}

var errShort = errors.New("the data ends within an argument")

func (r *borshReader) take(size int) ([]byte, error) {
	if size < 0 || size > len(r.data) {
		return nil, errShort
	}
	part := r.data[:size]
	r.data = r.data[size:]
	return part, nil
}

func (r *borshReader) add(name, value string) {
	r.args = append(r.args, chains.Arg{Name: name, Value: value})
}

func (r *borshReader) unread(format string, values ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, values...)
	}
}

// read reads a value of a type.
func (r *borshReader) read(name string, t *borshType) error {
	if r.steps--; r.steps < 0 || len(r.args) >= maxArgs {
		return fmt.Errorf("more than %d arguments", maxArgs)
	}
	switch t.kind {
	case borshNumber:
		raw, err := r.take(t.size)
		if err == nil {
			r.add(name, littleEndian(raw, t.signed).String())
		}
		return err
	case borshBool, borshOption:
		return r.readFlag(name, t)
	case borshKey:
		raw, err := r.take(32)
		if err == nil {
			r.add(name, base58.Encode(raw))
		}
		return err
	case borshBytes, borshText:
		return r.readBytes(name, t)
	case borshStruct:
		return r.readMembers(name, t.members)
	case borshEnum:
		return r.readEnum(name, t)
	}
	return r.readList(name, t)
}

// readFlag reads a bool, or an option: 0 or 1, and nothing else.
func (r *borshReader) readFlag(name string, t *borshType) error {
	raw, err := r.take(1)
	switch {
	case err != nil:
		return err
	case raw[0] > 1:
		return fmt.Errorf("%s: %d is neither 0 nor 1", name, raw[0])
	case t.kind == borshBool:
		r.add(name, fmt.Sprint(raw[0] == 1))
	case raw[0] == 0:
		r.add(name, "none")
	default:
		return r.read(name, t.element)
	}
	return nil
}

func (r *borshReader) count() (int, error) {
	raw, err := r.take(4)
	if err != nil {
		return 0, err
	}
	if count := binary.LittleEndian.Uint32(raw); count <= uint32(len(r.data)) {
		return int(count), nil
	}
	return 0, errShort
}

func (r *borshReader) readBytes(name string, t *borshType) error {
	count, err := r.count()
	if err != nil {
		return err
	}
	raw, err := r.take(count)
	if err != nil {
		return err
	}
	shown := raw[:min(len(raw), maxText)]
	switch {
	case t.kind == borshText && utf8.Valid(raw):
		r.add(name, string(shown))
	case t.kind == borshText:
		return fmt.Errorf("%s: not UTF-8", name)
	default:
		if r.add(name, fmt.Sprintf("0x%x", shown)); len(raw) > 0 {
			r.unread("argument %s is bytes whose meaning is not known", name)
		}
	}
	if len(raw) > maxText {
		r.unread("argument %s is too long", name)
	}
	return nil
}

func (r *borshReader) readMembers(name string, members []borshMember) error {
	for _, member := range members {
		if err := r.read(joined(name, member.name), member.borshType); err != nil {
			return err
		}
	}
	return nil
}

func joined(name, member string) string {
	if name == "" {
		return member
	}
	return name + "." + member
}

func (r *borshReader) readEnum(name string, t *borshType) error {
	raw, err := r.take(1)
	if err != nil {
		return err
	}
	if int(raw[0]) >= len(t.members) {
		return fmt.Errorf("%s: there is no variant %d", name, raw[0])
	}
	variant := t.members[raw[0]]
	r.add(name, variant.name)
	return r.readMembers(joined(name, variant.name), variant.members)
}

func (r *borshReader) readList(name string, t *borshType) (err error) {
	count := t.size
	if t.kind == borshVec {
		if count, err = r.count(); err != nil {
			return err
		}
	}
	if t.element.kind == borshNumber && t.element.size == 1 && !t.element.signed {
		return r.readOctets(name, count, t.kind == borshVec)
	}
	for i := range count {
		if err := r.read(fmt.Sprintf("%s.%d", name, i), t.element); err != nil {
			return err
		}
	}
	return nil
}

// readOctets reads a list of u8 as bytes: of fixed length a value, such as a
// hash, of any length what has a meaning of its own.
func (r *borshReader) readOctets(name string, count int, opaque bool) error {
	raw, err := r.take(count)
	if err != nil {
		return err
	}
	r.add(name, fmt.Sprintf("0x%x", raw[:min(len(raw), maxText)]))
	if opaque && len(raw) > 0 || len(raw) > maxText {
		r.unread("argument %s is bytes whose meaning is not known", name)
	}
	return nil
}

func littleEndian(raw []byte, signed bool) *big.Int {
	turned := slices.Clone(raw)
	slices.Reverse(turned)
	number := new(big.Int).SetBytes(turned)
	if signed && turned[0]&0x80 != 0 {
		number.Sub(number, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
	}
	return number
}
