package tron

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields by what they hold. They are required unless optional is called.

func owner(number uint64) field {
	return field{number: number, name: "owner_address", label: "owner", kind: kindOwner, needed: true}
}

func addr(number uint64, name, label string) field {
	return field{number: number, name: name, label: label, kind: kindAddress, needed: true}
}

func blob(number uint64, name, label string) field {
	return field{number: number, name: name, label: label, kind: kindBytes, needed: true, most: math.MaxInt32}
}

func text(number uint64, name, label string) field {
	return field{number: number, name: name, label: label, kind: kindText, needed: true, most: math.MaxInt32}
}

func token(number uint64, name, label string) field {
	return field{number: number, name: name, label: label, kind: kindToken, needed: true, most: math.MaxInt32}
}

func str(number uint64, name, label string) field {
	return field{number: number, name: name, label: label, kind: kindString, most: math.MaxInt32}
}

// sun is an amount above 0; so is count, for what is not counted in sun.
func sun(number uint64, name, label string) field {
	return field{number: number, name: name, label: label, kind: kindSun, needed: true, least: 1, most: math.MaxInt64}
}

func count(number uint64, name, label, unit string) field {
	return field{number: number, name: name, label: label, kind: kindInt, unit: unit, needed: true, least: 1, most: math.MaxInt64}
}

func count32(number uint64, name, label, unit string) field {
	return field{number: number, name: name, label: label, kind: kindInt32, unit: unit, needed: true, least: 1, most: math.MaxInt32}
}

func moment(number uint64, name, label string) field {
	return field{number: number, name: name, label: label, kind: kindTime, most: math.MaxInt64}
}

func boolean(number uint64, name, label string) field {
	return field{number: number, name: name, label: label, kind: kindBool, most: 1}
}

func enum(number uint64, name, label string, names ...string) field {
	return field{number: number, name: name, label: label, kind: kindEnum, most: int64(len(names)) - 1, names: names}
}

func one(number uint64, name, label string, of *message) field {
	return field{number: number, name: name, label: label, kind: kindMessage, needed: true, of: of}
}

func many(number uint64, name, label string, of *message) field {
	return field{number: number, name: name, label: label, kind: kindMessages, needed: true, of: of}
}

func refused(number uint64, name, why string) field {
	return field{number: number, name: name, kind: kindRefused, why: why}
}

// optional allows a field to be left out. A number may then not be negative.
func (f field) optional() field {
	f.needed = false
	if f.wire() == protowire.VarintType {
		f.least = 0
	}
	return f
}

// upTo bounds a number, or the length of bytes.
func (f field) upTo(most int64) field {
	f.most = most
	return f
}

// atLeast bounds a number from below.
func (f field) atLeast(least int64) field {
	f.least = least
	return f
}

// readable bounds the length of a text that has no spaces and nothing but ASCII.
func (f field) readable(least, most int64) field {
	f.least, f.most, f.plain = least, most, true
	return f
}

// notTRX is a token that cannot be TRX.
func (f field) notTRX() field {
	f.noTRX = true
	return f
}

// exactly sets the length of bytes.
func (f field) exactly(length int64, why string) field {
	f.least, f.most, f.why = length, length, why
	return f
}

// because sets the reason why a field is required.
func (f field) because(why string) field {
	f.why = why
	return f
}

func (f field) asBytes() field {
	f.opaque = true
	return f
}

// shown makes a summary show also that a flag is not set.
func (f field) shown() field {
	f.showUnset = true
	return f
}
