package descriptors

import (
	"math/big"
	"slices"
	"strconv"
)

// wireKind is the encoding of a type of a Solana program's arguments.
type wireKind uint8

const (
	wireNumber         wireKind = iota // an integer of size bytes
	wireFloat                          // size bytes, IEEE 754
	wireCompact                        // compact-u16, one to three bytes
	wireBool                           // prefix, 0 or 1
	wireKey                            // an address of 32 bytes
	wireBytes                          // all remaining bytes
	wireText                           // all remaining bytes, UTF-8
	wireStruct                         // the members in order
	wireOption                         // prefix, 0 or 1; the element if it is 1, else size zero bytes
	wireZeroable                       // the element, or constant, which means none
	wireRestOption                     // the element, or the end of the data, which means none
	wireList                           // prefix, and as many elements
	wireArray                          // size elements
	wireRestList                       // elements up to the end of the data
	wireEnum                           // prefix, and the members of that variant
	wireSized                          // prefix, and the element in as many bytes
	wireFixed                          // the element in size bytes, padded with zeros
	wireTerminated                     // the element, which ends at constant
	wireAfterConstant                  // constant, and the element
	wireBeforeConstant                 // the element, and constant
)

// wireType is a type of arguments: those of Borsh (https://borsh.io), which Anchor's IDLs
// have, and those that only Codama's have.
type wireType struct {
	kind     wireKind
	size     int
	signed   bool
	big      bool         // big-endian
	members  []wireMember // of a struct; the variants of an enum
	tags     []uint64     // of an enum's variants; nil for 0, 1, …
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

// numberType returns the little-endian type that IDLs call "u8" to "u256", "i8" to "i256",
// "f32" or "f64".
func numberType(name string) (t *wireType, ok bool) {
	if name == "f32" || name == "f64" {
		return &wireType{kind: wireFloat, size: map[string]int{"f32": 4, "f64": 8}[name]}, true
	}
	for size := 1; size <= 32; size *= 2 {
		if bits := strconv.Itoa(8 * size); name == "u"+bits || name == "i"+bits {
			return &wireType{size: size, signed: name[0] == 'i'}, true
		}
	}
	return nil, false
}

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

// encode encodes an integer. ok is false if it does not fit.
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

// width returns the size of every value of a type, in bytes. ok is false if it varies or
// exceeds maxWidth.
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
	case wireAfterConstant, wireBeforeConstant:
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
