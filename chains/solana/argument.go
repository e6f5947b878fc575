package solana

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
)

// The numbers of instruction data are little-endian.

// argument reads one argument from the data, shows it, and keeps its value for
// the effects.
type argument func(r *reading) error

// solDecimals is how many decimals of a SOL a lamport is.
const solDecimals = 9

func lamportsField(label string, amount uint64) chains.Field {
	return chains.AmountUint(label, amount, solDecimals, "SOL")
}

// lamports is a u64 amount of SOL's smallest unit.
func lamports(label string) argument {
	return func(r *reading) error {
		amount, err := r.uint64(label)
		r.set(value{label: label, number: amount})
		r.show(func() chains.Field { return lamportsField(label, amount) })
		return err
	}
}

// tokens is a u64 amount of a token whose decimals the instruction does not say.
func tokens(label string) argument {
	return func(r *reading) error {
		amount, err := r.uint64(label)
		r.set(value{label: label, number: amount})
		r.show(func() chains.Field {
			field := chains.AmountUint(label, amount, 0, "").WithNote("in the token's smallest unit: its decimals are not in the transaction")
			return markUnlimited(field, amount)
		})
		return err
	}
}

// checkedTokens is a u64 amount followed by a u8 of the mint's decimals, which
// the program checks against the mint.
func checkedTokens(label string) argument {
	return func(r *reading) error {
		amount, err := r.uint64(label)
		if err != nil {
			return err
		}
		decimals, err := r.uint8("decimals")
		r.set(value{label: label, number: amount})
		r.set(value{label: "decimals", number: uint64(decimals)})
		r.show(func() chains.Field { return markUnlimited(chains.AmountUint(label, amount, int(decimals), ""), amount) })
		r.show(func() chains.Field { return chains.Integer("decimals", uint64(decimals)) })
		return err
	}
}

// checkedWithFee is checkedTokens with a u64 transfer fee behind it.
func checkedWithFee(r *reading) error {
	if err := checkedTokens("amount")(r); err != nil {
		return err
	}
	decimals, _ := r.number("decimals")
	fee, err := r.uint64("fee")
	r.set(value{label: "fee", number: fee})
	r.show(func() chains.Field { return chains.AmountUint("fee", fee, int(decimals), "") })
	return err
}

func markUnlimited(field chains.Field, amount uint64) chains.Field {
	if amount == math.MaxUint64 {
		return field.WithNote("unlimited: the largest amount there is")
	}
	return field
}

// integer is a number of size bytes.
func integer(label string, size int) argument {
	return func(r *reading) error {
		at, err := r.skip(size, label)
		if err != nil {
			return err
		}
		var wide [8]byte
		copy(wide[:], r.raw[at:r.cursor.at])
		number := binary.LittleEndian.Uint64(wide[:])
		r.set(value{label: label, number: number})
		r.show(func() chains.Field { return chains.Integer(label, number) })
		return nil
	}
}

func u8(label string) argument  { return integer(label, 1) }
func u16(label string) argument { return integer(label, 2) }
func u32(label string) argument { return integer(label, 4) }
func u64(label string) argument { return integer(label, 8) }

// i8 is a signed 8-bit number.
func i8(label string) argument {
	return func(r *reading) error {
		number, err := r.uint8(label)
		r.show(func() chains.Field { return chains.BigInteger(label, big.NewInt(int64(int8(number)))) })
		return err
	}
}

// i16 is a signed 16-bit number.
func i16(label string) argument {
	return func(r *reading) error {
		number, err := r.uint16(label)
		r.show(func() chains.Field { return chains.BigInteger(label, big.NewInt(int64(int16(number)))) })
		return err
	}
}

// boolean is a u8, 0 for no and anything else for yes.
func boolean(label string) argument {
	return func(r *reading) error {
		number, err := r.uint8(label)
		r.set(value{label: label, number: uint64(number)})
		r.show(func() chains.Field {
			switch number {
			case 0:
				return chains.Text(label, "no")
			case 1:
				return chains.Text(label, "yes")
			}
			return chains.Text(label, fmt.Sprintf("yes (%d)", number))
		})
		return err
	}
}

// f64 is a floating-point number of IEEE 754.
func f64(label string) argument {
	return func(r *reading) error {
		number, err := r.uint64(label)
		r.show(func() chains.Field { return chains.Text(label, fmt.Sprint(math.Float64frombits(number))) })
		return err
	}
}

// lastSecond is the last one of the year 9999.
const lastSecond = 253402300799

// unixTime is an i64 of seconds since 1970.
func unixTime(label string) argument {
	return func(r *reading) error {
		number, err := r.uint64(label)
		seconds := int64(number)
		r.set(value{label: label, number: number})
		r.show(func() chains.Field {
			if seconds < 0 || seconds > lastSecond {
				return chains.BigInteger(label, big.NewInt(seconds)).WithNote("seconds since 1970")
			}
			return chains.Time(label, time.Unix(seconds, 0))
		})
		return err
	}
}

// key is an address of 32 bytes.
func key(label string) argument {
	return func(r *reading) error {
		at, err := r.skip(keySize, label)
		if err != nil {
			return err
		}
		address := r.raw[at:r.cursor.at]
		r.set(value{label: label, key: address})
		r.show(func() chains.Field { return chains.AddressField(label, encode58(address)) })
		return nil
	}
}

// nonZeroKey is an address of 32 bytes, of which all zero means none.
func nonZeroKey(label string) argument {
	return func(r *reading) error {
		if len(r.raw)-r.cursor.at >= keySize && allZero(r.raw[r.cursor.at:][:keySize]) {
			r.cursor.at += keySize
			r.setNone(label)
			return nil
		}
		return key(label)(r)
	}
}

func (r *reading) setNone(label string) {
	r.set(value{label: label, none: true})
	r.show(func() chains.Field { return chains.Text(label, "none") })
}

// optional is a u8, 0 for none or 1, and what follows it if it is 1.
func optional(label string, some argument) argument {
	return func(r *reading) error {
		present, err := r.uint8(label)
		switch {
		case err != nil:
			return err
		case present == 0:
			r.setNone(label)
			return nil
		case present > 1:
			return fmt.Errorf("%s: %d says neither that there is one nor that there is none", label, present)
		}
		return some(r)
	}
}

// text is a u64 length and as many bytes of UTF-8.
func text(label string) argument {
	return func(r *reading) error {
		size, err := r.uint64(label)
		if err != nil {
			return err
		}
		return r.textOf(label, size)
	}
}

// shortText is a u32 length and as many bytes of UTF-8.
func shortText(label string) argument {
	return func(r *reading) error {
		size, err := r.uint32(label)
		if err != nil {
			return err
		}
		return r.textOf(label, uint64(size))
	}
}

// restText is UTF-8 to the end of the data.
func restText(label string) argument {
	return func(r *reading) error { return r.textOf(label, uint64(len(r.raw)-r.cursor.at)) }
}

func (r *reading) textOf(label string, size uint64) error {
	if left := uint64(len(r.raw) - r.cursor.at); size > left {
		return malformed(label, r.cursor.at, "cut off: %d bytes are needed, %d are left", size, left)
	}
	content := r.raw[r.cursor.at:][:size]
	r.cursor.at += int(size)
	if !utf8.Valid(content) {
		return fmt.Errorf("%s is not UTF-8", label)
	}
	r.show(func() chains.Field { return chains.Text(label, string(content)) })
	return nil
}

// restBytes is all there is to the end of the data.
func restBytes(label string) argument {
	return func(r *reading) error { return fixedBytes(label, len(r.raw)-r.cursor.at)(r) }
}

// fixedBytes is size bytes.
func fixedBytes(label string, size int) argument {
	return func(r *reading) error {
		at, err := r.skip(size, label)
		if err != nil {
			return err
		}
		content := r.raw[at:r.cursor.at]
		r.show(func() chains.Field { return chains.Bytes(label, content) })
		return nil
	}
}

// sizedBytes is a u64 length and as many bytes.
func sizedBytes(label string) argument {
	return func(r *reading) error {
		size, err := r.uint64(label)
		if err != nil {
			return err
		}
		if left := uint64(len(r.raw) - r.cursor.at); size > left {
			return malformed(label, r.cursor.at, "cut off: %d bytes are needed, %d are left", size, left)
		}
		return fixedBytes(label, int(size))(r)
	}
}

// keys is a u64 count and as many addresses.
func keys(label string) argument {
	return func(r *reading) error {
		count, err := r.uint64(label)
		if err != nil {
			return err
		}
		if count > uint64(len(r.raw)-r.cursor.at)/keySize {
			return malformed(label, r.cursor.at, "cut off: %d addresses are announced, %d bytes are left", count, len(r.raw)-r.cursor.at)
		}
		for i := range int(count) {
			if err := key(fmt.Sprintf("%s %d", label, i))(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// restU16s is 16-bit numbers to the end of the data.
func restU16s(label string) argument {
	return func(r *reading) error {
		for len(r.raw)-r.cursor.at >= 2 {
			if err := u16(label)(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// oneOf is a number of size bytes, 1 or 4, that stands for a name.
func oneOf(label string, size int, names ...string) argument {
	return func(r *reading) error {
		number, err := readTag(&r.cursor, size)
		if err != nil {
			return err
		}
		if int64(number) >= int64(len(names)) {
			return fmt.Errorf("%s %d is not known", label, number)
		}
		r.set(value{label: label, number: uint64(number), name: names[number]})
		r.show(func() chains.Field { return chains.Text(label, names[number]) })
		return nil
	}
}
