package descriptors

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
)

// wireKind is how a type of a Solana program's arguments is encoded.
type wireKind uint8

const (
	wireNumber   wireKind = iota // size bytes, an integer
	wireFloat                    // size bytes, IEEE 754
	wireCompact                  // compact-u16, one to three bytes
	wireBool                     // prefix: 0 or 1
	wireKey                      // 32 bytes of an account
	wireBytes                    // all the bytes that are left
	wireText                     // all the bytes that are left, UTF-8
	wireStruct                   // members in order
	wireOption                   // prefix, 0 or 1, and if it is 1 the element; of size bytes always, if that is above 0
	wireZeroable                 // the element, or constant, which stands for none
	wireRest                     // the element, or the end of the data
	wireList                     // prefix, and as many elements
	wireArray                    // size elements
	wireListing                  // elements to the end of the data
	wireEnum                     // prefix, and the members of the variant
	wireSized                    // prefix, and the element in as many bytes
	wireFixed                    // the element in size bytes, zeros behind it
	wireUntil                    // the element, ended by constant
	wireBehind                   // constant, and the element
	wireBefore                   // the element, and constant
)

// wireType is a type of arguments: of Borsh (https://borsh.io), as Anchor's IDLs name
// them, or of what Codama's describe besides.
type wireType struct {
	kind     wireKind
	size     int
	signed   bool
	big      bool         // big-endian
	members  []wireMember // of a struct; of an enum its variants
	tags     []uint64     // of an enum's variants; nil: 0, 1, …
	element  *wireType
	prefix   *wireType // a wireNumber or wireCompact
	constant []byte
}

type wireMember struct {
	name string
	*wireType
}

// The prefixes of Borsh.
var (
	wireU8  = &wireType{size: 1}
	wireU32 = &wireType{size: 4}
)

// wireReader reads arguments strictly, and lists them.
type wireReader struct {
	data    []byte
	args    []chains.Arg
	problem string // what is read, but not understood
	steps   int    // values that may still be read
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

// read reads a value of a type.
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
	case wireBool, wireOption, wireZeroable, wireRest:
		return r.readOptional(name, t)
	case wireEnum:
		return r.readEnum(name, t)
	case wireList, wireArray, wireListing:
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

// integer is the number that bytes stand for.
func (t *wireType) integer(raw []byte) *big.Int {
	if !t.big {
		raw = slices.Clone(raw)
		slices.Reverse(raw)
	}
	number := new(big.Int).SetBytes(raw)
	if t.signed && raw[0]&0x80 != 0 {
		number.Sub(number, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
	}
	return number
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
	return 0, errors.New("a compact-u16 that is not canonical")
}

// prefixed reads a number that stands before something.
func (r *wireReader) prefixed(t *wireType) (uint64, error) {
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
		return 0, fmt.Errorf("%s stands before an argument", number)
	}
	return number.Uint64(), nil
}

// count reads how much there is of something: bytes, or elements of a byte at least.
func (r *wireReader) count(prefix *wireType) (int, error) {
	number, err := r.prefixed(prefix)
	if err == nil && number > uint64(len(r.data)) {
		err = errShort
	}
	return int(number), err
}

func joined(name, member string) string {
	if name == "" {
		return member
	}
	return name + "." + member
}

// encode encodes an integer; ok is false if it does not fit.
func (t *wireType) encode(number *big.Int) (raw []byte, ok bool) {
	if t.kind != wireNumber || number.Sign() < 0 && !t.signed {
		return nil, false
	}
	raw = make([]byte, t.size)
	twos := new(big.Int).Set(number)
	if number.Sign() < 0 {
		twos.Add(twos, new(big.Int).Lsh(big.NewInt(1), uint(8*t.size)))
	}
	if twos.Sign() < 0 || twos.BitLen() > 8*t.size {
		return nil, false
	}
	twos.FillBytes(raw)
	if !t.big {
		slices.Reverse(raw)
	}
	return raw, t.integer(raw).Cmp(number) == 0
}

// maxWidth is the longest type of fixed size, in bytes.
const maxWidth = 1 << 16

// width is how many bytes every value of a type has; ok is false if they differ, or are
// too many.
func (t *wireType) width() (size int, ok bool) {
	size, ok = t.sum()
	return size, ok && size <= maxWidth
}

func (t *wireType) sum() (size int, ok bool) {
	switch t.kind {
	case wireNumber, wireFloat, wireFixed:
		return t.size, true
	case wireKey:
		return 32, true
	case wireBool:
		return t.prefix.width()
	case wireZeroable:
		return t.element.width()
	case wireBehind, wireBefore:
		size, ok = t.element.width()
		return size + len(t.constant), ok
	case wireOption:
		size, ok = t.prefix.width()
		return size + t.size, ok && t.size > 0
	case wireArray:
		size, ok = t.element.width()
		return size * t.size, ok
	case wireEnum:
		for _, variant := range t.members {
			if size, ok = variant.width(); !ok || size > 0 {
				return 0, false
			}
		}
		return t.prefix.width()
	case wireStruct:
		for _, member := range t.members {
			part, fixed := member.width()
			if !fixed {
				return 0, false
			}
			size += part
		}
		return size, true
	}
	return 0, false
}
