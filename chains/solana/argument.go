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

// solDecimals is how many decimals of a SOL a lamport is.
const solDecimals = 9

func lamportsField(label string, amount uint64) chains.Field {
	return chains.AmountUint(label, amount, solDecimals, "SOL")
}

func one(field chains.Field, err error) ([]chains.Field, error) {
	return []chains.Field{field}, err
}

// lamports is a u64 amount of SOL's smallest unit.
func lamports(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		amount, err := c.uint64(label)
		return one(lamportsField(label, amount), err)
	}
}

// tokens is a u64 amount of a token whose decimals the instruction does not say.
func tokens(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		amount, err := c.uint64(label)
		field := chains.AmountUint(label, amount, 0, "").WithNote("in the token's smallest unit: its decimals are not in the transaction")
		return one(markUnlimited(field, amount), err)
	}
}

// checkedTokens is a u64 amount followed by a u8 of the mint's decimals, which
// the program holds against the mint.
func checkedTokens(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		amount, err := c.uint64(label)
		if err != nil {
			return nil, err
		}
		decimals, err := c.uint8("decimals")
		field := chains.AmountUint(label, amount, int(decimals), "")
		return []chains.Field{markUnlimited(field, amount), chains.Integer("decimals", uint64(decimals))}, err
	}
}

// checkedWithFee is checkedTokens with a u64 transfer fee behind it.
func checkedWithFee(c *cursor) ([]chains.Field, error) {
	fields, err := checkedTokens("amount")(c)
	if err != nil {
		return nil, err
	}
	fee, err := c.uint64("fee")
	return append(fields, chains.AmountUint("fee", fee, fields[0].Decimals, "")), err
}

func markUnlimited(field chains.Field, amount uint64) chains.Field {
	if amount == math.MaxUint64 {
		return field.WithNote("unlimited: the largest amount there is")
	}
	return field
}

func u8(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		value, err := c.uint8(label)
		return one(chains.Integer(label, uint64(value)), err)
	}
}

func u16(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		value, err := c.uint16(label)
		return one(chains.Integer(label, uint64(value)), err)
	}
}

// i16 is a signed 16-bit number.
func i16(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		value, err := c.uint16(label)
		return one(chains.BigInteger(label, big.NewInt(int64(int16(value)))), err)
	}
}

func u32(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		value, err := c.uint32(label)
		return one(chains.Integer(label, uint64(value)), err)
	}
}

func u64(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		value, err := c.uint64(label)
		return one(chains.Integer(label, value), err)
	}
}

// f64 is a floating-point number of IEEE 754.
func f64(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		value, err := c.uint64(label)
		return one(chains.Text(label, fmt.Sprint(math.Float64frombits(value))), err)
	}
}

// lastSecond is the last one of the year 9999.
const lastSecond = 253402300799

// unixTime is an i64 of seconds since 1970.
func unixTime(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		value, err := c.uint64(label)
		seconds := int64(value)
		if seconds < 0 || seconds > lastSecond {
			return one(chains.BigInteger(label, big.NewInt(seconds)).WithNote("seconds since 1970"), err)
		}
		return one(chains.Time(label, time.Unix(seconds, 0)), err)
	}
}

// key is an address of 32 bytes.
func key(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		at, err := c.skip(keySize, label)
		if err != nil {
			return nil, err
		}
		return one(chains.AddressField(label, encode58(c.raw[at:c.at])), nil)
	}
}

// nonZeroKey is an address of 32 bytes, of which all zero means none.
func nonZeroKey(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		at, err := c.skip(keySize, label)
		if err != nil {
			return nil, err
		}
		if allZero(c.raw[at:c.at]) {
			return one(chains.Text(label, "none"), nil)
		}
		return one(chains.AddressField(label, encode58(c.raw[at:c.at])), nil)
	}
}

// optional is a u8, 0 for none or 1, and what follows it if it is 1.
func optional(label string, some argument) argument {
	return func(c *cursor) ([]chains.Field, error) {
		present, err := c.uint8(label)
		switch {
		case err != nil:
			return nil, err
		case present == 0:
			return one(chains.Text(label, "none"), nil)
		case present > 1:
			return nil, fmt.Errorf("%s: %d says neither that there is one nor that there is none", label, present)
		}
		return some(c)
	}
}

// text is a u64 length and as many bytes of UTF-8.
func text(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		size, err := c.uint64(label)
		if err != nil {
			return nil, err
		}
		if left := uint64(len(c.raw) - c.at); size > left {
			return nil, malformed(label, c.at, "cut off: %d bytes are needed, %d are left", size, left)
		}
		return showText(label, c, int(size))
	}
}

// restText is UTF-8 to the end of the data.
func restText(label string) argument {
	return func(c *cursor) ([]chains.Field, error) { return showText(label, c, len(c.raw)-c.at) }
}

func showText(label string, c *cursor, size int) ([]chains.Field, error) {
	at, err := c.skip(size, label)
	if err != nil {
		return nil, err
	}
	if value := c.raw[at:c.at]; utf8.Valid(value) {
		return one(chains.Text(label, string(value)), nil)
	}
	return nil, fmt.Errorf("%s is not UTF-8", label)
}

// restBytes is all there is to the end of the data.
func restBytes(label string) argument {
	return func(c *cursor) ([]chains.Field, error) { return fixedBytes(label, len(c.raw)-c.at)(c) }
}

// fixedBytes is size bytes.
func fixedBytes(label string, size int) argument {
	return func(c *cursor) ([]chains.Field, error) {
		at, err := c.skip(size, label)
		if err != nil {
			return nil, err
		}
		return one(chains.Bytes(label, c.raw[at:c.at]), nil)
	}
}

// keys is a u64 count and as many addresses.
func keys(label string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		count, err := c.uint64(label)
		if err != nil {
			return nil, err
		}
		if count > uint64(len(c.raw)-c.at)/keySize {
			return nil, malformed(label, c.at, "cut off: %d addresses are announced, %d bytes are left", count, len(c.raw)-c.at)
		}
		var fields []chains.Field
		for i := range int(count) {
			at := c.at + i*keySize
			fields = append(fields, chains.AddressField(fmt.Sprintf("%s %d", label, i), encode58(c.raw[at:at+keySize])))
		}
		c.at += int(count) * keySize
		return fields, nil
	}
}

// restU16s is 16-bit numbers to the end of the data.
func restU16s(label string) argument {
	return func(c *cursor) (fields []chains.Field, err error) {
		for len(c.raw)-c.at >= 2 {
			fields = append(fields, chains.Integer(label, uint64(binary.LittleEndian.Uint16(c.raw[c.at:]))))
			c.at += 2
		}
		return fields, nil
	}
}

// oneOf is a number of size bytes, 1 or 4, that stands for a name.
func oneOf(label string, size int, names ...string) argument {
	return func(c *cursor) ([]chains.Field, error) {
		number, err := readTag(c, size)
		if err != nil {
			return nil, err
		}
		if int64(number) >= int64(len(names)) {
			return nil, fmt.Errorf("%s %d is not known", label, number)
		}
		return one(chains.Text(label, names[number]), nil)
	}
}
