package solana

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
)

func sequence(arguments ...argument) argument {
	return func(r *reader) {
		for _, read := range arguments {
			if r.err == nil {
				read(r)
			}
		}
	}
}

// solDecimals is the number of decimals of SOL: its smallest unit is the lamport.
const solDecimals = 9

func lamportsField(label string, amount uint64) chains.Field {
	return chains.AmountUint(label, amount, solDecimals, "SOL")
}

// lamports is a u64 amount of SOL's smallest unit.
func lamports(label string) argument {
	return integer(label, 8, func(amount uint64) chains.Field { return lamportsField(label, amount) })
}

// tokens is a u64 amount of a token whose decimals the instruction does not say.
func tokens(label string) argument {
	return integer(label, 8, func(amount uint64) chains.Field {
		field := chains.AmountUint(label, amount, 0, "")
		field.Note = "in the token's smallest unit: its decimals are not in the transaction"
		return markUnlimited(field, amount)
	})
}

// checkedTokens is the argument "amount", a u64, followed by a u8 of the mint's decimals,
// which the program compares with the mint.
func checkedTokens(r *reader) {
	amount, decimals := r.uint(8, "amount"), r.uint8("decimals")
	r.set(value{label: "amount", number: amount})
	r.set(value{label: "decimals", number: uint64(decimals)})
	r.show(func() chains.Field {
		return markUnlimited(chains.AmountUint("amount", amount, int(decimals), ""), amount)
	})
	r.show(func() chains.Field { return chains.Integer("decimals", uint64(decimals)) })
}

// checkedWithFee is checkedTokens followed by a u64 transfer fee.
var checkedWithFee = sequence(checkedTokens, func(r *reader) {
	decimals, _ := r.number("decimals")
	integer("fee", 8, func(fee uint64) chains.Field { return chains.AmountUint("fee", fee, int(decimals), "") })(r)
})

func markUnlimited(field chains.Field, amount uint64) chains.Field {
	if amount == math.MaxUint64 {
		return field.WithNote("unlimited: the largest amount there is")
	}
	return field
}

// integer is a number of size bytes, and how it is shown.
func integer(label string, size int, field func(number uint64) chains.Field) argument {
	return func(r *reader) { r.keep(value{label: label, number: r.uint(size, label), field: field}) }
}

func unsigned(label string, size int) argument {
	return integer(label, size, func(number uint64) chains.Field { return chains.Integer(label, number) })
}

func u8(label string) argument  { return unsigned(label, 1) }
func u16(label string) argument { return unsigned(label, 2) }
func u32(label string) argument { return unsigned(label, 4) }
func u64(label string) argument { return unsigned(label, 8) }

func i8(label string) argument  { return signed(label, 1) }
func i16(label string) argument { return signed(label, 2) }

func signed(label string, size int) argument {
	return integer(label, size, func(number uint64) chains.Field {
		unused := 64 - 8*size
		return chains.BigInteger(label, big.NewInt(int64(number<<unused)>>unused))
	})
}

// boolean is a u8: 0 for no, anything else for yes.
func boolean(label string) argument {
	return integer(label, 1, func(number uint64) chains.Field {
		switch number {
		case 0:
			return chains.Text(label, "no")
		case 1:
			return chains.Text(label, "yes")
		}
		return chains.Text(label, fmt.Sprintf("yes (%d)", number))
	})
}

// f64 is a floating-point number in the binary64 format of IEEE 754.
func f64(label string) argument {
	return integer(label, 8, func(number uint64) chains.Field {
		return chains.Text(label, fmt.Sprint(math.Float64frombits(number)))
	})
}

// unixTime is an i64 of seconds since 1970.
func unixTime(label string) argument {
	return integer(label, 8, func(number uint64) chains.Field {
		return chains.Seconds(label, big.NewInt(int64(number)))
	})
}

// oneOf is a number of size bytes, 1 or 4, that stands for a name.
func oneOf(label string, size int, names ...string) argument {
	return func(r *reader) {
		number := r.uint(size, tagField)
		if number >= uint64(len(names)) {
			r.fail(fmt.Errorf("%s %d is not known", label, number))
			return
		}
		r.keep(value{label: label, number: number, field: shownAs(label, names[number])})
	}
}

// shownAs shows a value as a text.
func shownAs(label, text string) func(uint64) chains.Field {
	return func(uint64) chains.Field { return chains.Text(label, text) }
}

// key is an address of 32 bytes.
func key(label string) argument {
	return func(r *reader) {
		address := r.take(keySize, label)
		r.set(value{label: label, key: address})
		r.show(func() chains.Field { return chains.AddressField(label, encode58(address)) })
	}
}

// nonZeroKey is an address of 32 bytes. Zero bytes mean none.
func nonZeroKey(label string) argument {
	return func(r *reader) {
		if rest := r.raw[r.cursor.offset:]; len(rest) >= keySize && allZero(rest[:keySize]) {
			r.cursor.offset += keySize
			r.keep(value{label: label, none: true, field: shownAs(label, "none")})
			return
		}
		key(label)(r)
	}
}

// optional is a u8, 0 or 1, and the argument if it is 1.
func optional(label string, some argument) argument {
	return func(r *reader) {
		switch present := r.uint8(label); {
		case r.err != nil:
		case present == 0:
			r.set(value{label: label, none: true})
			r.show(func() chains.Field { return chains.Text(label, "none") })
		case present > 1:
			r.fail(fmt.Errorf("%s: %d says neither that there is one nor that there is none", label, present))
		default:
			some(r)
		}
	}
}

// variant is a u8 that selects the argument that follows. A variant without a name is not shown.
func variant(label string, names []string, forms ...argument) argument {
	return func(r *reader) {
		number := int(r.uint8(label))
		if number >= len(forms) {
			r.fail(fmt.Errorf("%s %d is not known", label, number))
		}
		if r.err != nil {
			return
		}
		if names != nil && names[number] != "" {
			r.keep(value{label: label, field: shownAs(label, names[number])})
		}
		forms[number](r)
	}
}

// many is a u32 count followed by that many items.
func many(label string, item argument) argument {
	return func(r *reader) {
		count := r.uint32(label)
		for i := uint32(0); i < count && r.err == nil; i++ {
			item(r)
		}
	}
}

// keys is a u64 count followed by that many addresses.
func keys(label string) argument {
	return func(r *reader) {
		count := r.uint(8, label)
		if count > uint64(r.left())/keySize {
			r.refuse(label, r.cursor.offset, "cut off: %d addresses are announced, %d bytes are left", count, r.left())
		}
		for i := uint64(0); i < count && r.err == nil; i++ {
			key(fmt.Sprintf("%s %d", label, i))(r)
		}
	}
}

// restU16s is 16-bit numbers up to the end of the data.
func restU16s(label string) argument {
	return func(r *reader) {
		for r.left() >= 2 {
			u16(label)(r)
		}
	}
}

func fixedBytes(label string, size int) argument {
	return func(r *reader) {
		content := r.take(uint64(size), label)
		r.keep(value{label: label, field: func(uint64) chains.Field { return chains.Bytes(label, content) }})
	}
}

// What follows has a length: a u64 as in bincode, a u32 as in Borsh, or the rest of the data.
func restBytes(label string) argument  { return bytesOf(label, (*reader).rest) }
func sizedBytes(label string) argument { return bytesOf(label, sized(8, label)) }
func shortBytes(label string) argument { return bytesOf(label, sized(4, label)) }
func restText(label string) argument   { return textOf(label, (*reader).rest) }
func text(label string) argument       { return textOf(label, sized(8, label)) }
func shortText(label string) argument  { return textOf(label, sized(4, label)) }

// sized reads a length, a number of so many bytes, and that many bytes.
func sized(prefix int, label string) func(r *reader) []byte {
	return func(r *reader) []byte { return r.take(r.uint(prefix, label), label) }
}

func bytesOf(label string, read func(r *reader) []byte) argument {
	return func(r *reader) {
		content := read(r)
		r.show(func() chains.Field { return chains.Bytes(label, content) })
	}
}

func textOf(label string, read func(r *reader) []byte) argument {
	return func(r *reader) {
		content := read(r)
		if !utf8.Valid(content) {
			r.fail(fmt.Errorf("%s is not UTF-8", label))
		}
		r.keep(value{label: label, field: shownAs(label, string(content))})
	}
}

// named is an argument without data of its own that stands for a name.
func named(label, name string) argument {
	return func(r *reader) { r.keep(value{label: label, field: shownAs(label, name)}) }
}

// show adds an argument's field, if fields are wanted.
func (r *reader) show(field func() chains.Field) {
	if r.shown {
		r.argumentFields = append(r.argumentFields, field())
	}
}

func (r *reader) set(v value) { r.values = append(r.values, v) }

// number returns a numeric argument. ok is false if it is absent.
func (r *reader) number(label string) (number uint64, ok bool) {
	for _, v := range r.values {
		if v.label == label {
			return v.number, !v.none
		}
	}
	return 0, false
}

// keep is set and show.
func (r *reader) keep(v value) {
	r.set(v)
	r.show(func() chains.Field { return v.field(v.number) })
}

// text is how effects write the argument: a time in seconds, and an absent one as nothing.
func (v *value) text() string {
	switch {
	case v.key != nil:
		return encode58(v.key)
	case v.field != nil && v.field(v.number).Type != chains.TypeTime:
		return v.field(v.number).Value
	case v.none:
		return ""
	}
	return strconv.FormatUint(v.number, 10)
}
