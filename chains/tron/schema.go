package tron

import (
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields by what they hold. They are required unless optional is called.
var (
	addr    = fieldsLike(field{kind: kindAddress, needed: true})
	blob    = fieldsLike(field{kind: kindBytes, needed: true, most: math.MaxInt32})
	text    = fieldsLike(field{kind: kindText, needed: true, most: math.MaxInt32})
	token   = fieldsLike(field{kind: kindToken, needed: true, most: math.MaxInt32})
	str     = fieldsLike(field{kind: kindString, most: math.MaxInt32})
	sun     = fieldsLike(field{kind: kindSun, needed: true, least: 1, most: math.MaxInt64})
	moment  = fieldsLike(field{kind: kindTime, most: math.MaxInt64})
	boolean = fieldsLike(field{kind: kindBool, most: 1, names: []string{"no", "yes"}})
)

func fieldsLike(like field) func(number uint64, name, label string) field {
	return func(number uint64, name, label string) field {
		f := like
		f.number, f.name, f.label = number, name, label
		return f
	}
}

func owner(number uint64) field {
	return field{number: number, name: "owner_address", label: "owner", kind: kindOwner, needed: true}
}

// count is a number above 0 of what is not counted in sun.
func count(number uint64, name, label, unit string) field {
	return field{number: number, name: name, label: label, kind: kindInt, unit: unit, needed: true, least: 1,
		most: math.MaxInt64}
}

func count32(number uint64, name, label, unit string) field {
	return field{number: number, name: name, label: label, kind: kindInt32, unit: unit, needed: true, least: 1,
		most: math.MaxInt32}
}

func enum(number uint64, name, label string, names ...string) field {
	list := make([]string, len(names))
	for number, name := range names {
		list[number] = fmt.Sprintf("%d %s", number, name)
	}
	return field{number: number, name: name, label: label, kind: kindEnum, most: int64(len(names)) - 1, names: names,
		why: strings.Join(list, ", ")}
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

func (f field) atLeast(least int64) field {
	f.least = least
	return f
}

// readable bounds the length of a text that has no spaces and nothing but ASCII.
func (f field) readable(least, most int64) field {
	f.least, f.most, f.plain = least, most, true
	return f
}

func (f field) notTRX() field {
	f.noTRX = true
	return f
}

func (f field) exactly(length int64, why string) field {
	f.least, f.most, f.why = length, length, why
	return f
}

// shown makes a summary show also that a flag is not set.
func (f field) shown() field {
	f.showUnset = true
	return f
}

// message is the table of one Protocol Buffers message: the fields that the .proto
// files declare, and which of their values the network accepts. One reader reads all
// messages by their tables, and one function summarizes them.
type message struct {
	name   string  // as the .proto files say
	fields []field // by ascending number
	rule   rule    // between fields; nil: there is none
}

// newMessage sets the paths of fields in errors, so that reading does not concatenate strings.
func newMessage(name string, fields ...field) *message {
	for index := range fields {
		fields[index].path = name + "." + fields[index].name
	}
	return &message{name: name, fields: fields}
}

func (m *message) where(rule rule) *message {
	m.rule = rule
	return m
}

// field is one line of a message's table.
type field struct {
	number uint64 // as the .proto files say
	name   string // as the .proto files say
	label  string // in summaries
	kind   kind
	needed bool
	path   string // message.name and name, for errors

	least, most int64    // of a number; of the length of bytes
	except      int64    // a number that is refused though it is between them, unless 0
	plain       bool     // bytes from 21 to 7e only
	noTRX       bool     // a token, and not TRX
	zero        bool     // of a map's entry, of which encoders write both fields even if they are 0
	names       []string // of the values of an enum or a flag
	of          *message // of a message
	showUnset   bool     // a summary also shows that a flag is not set
	opaque      bool     // a message that a summary shows as bytes
	unit        string   // of an integer, for summaries
	why         string   // of a field that is refused; of one that is needed; of a length; an enum's values
}

type kind uint8

const (
	kindAddress    kind = iota + 1
	kindOwner           // the address that the contract acts for
	kindBytes           // shown as hex
	kindText            // bytes that are shown as text if they are
	kindString          // a proto3 string: UTF-8
	kindToken           // bytes: the id of a TRC-10 token in decimal, or _ for TRX
	kindOperations      // bytes: one bit for each contract type
	kindSun             // int64: an amount in sun
	kindInt             // int64
	kindInt32           // int32
	kindTime            // int64: milliseconds since 1970
	kindBool
	kindEnum
	kindMessage
	kindMessages // repeated message
	kindRepeated // repeated bytes
	kindRefused  // well-formed, but not in a transaction to be signed
)

func (f *field) repeated() bool { return f.kind == kindMessages || f.kind == kindRepeated }

func (f *field) wire() protowire.Type {
	switch f.kind {
	case kindSun, kindInt, kindInt32, kindTime, kindBool, kindEnum:
		return protowire.VarintType
	}
	return protowire.BytesType
}

// rule is what the network requires between the fields of one message, in addition to
// the checks of each field: the validate methods of java-tron's actuators.
type rule func(m *message, raw []byte, v []value) error

func (f field) neededAbove0() field {
	f.needed, f.least = true, 1
	return f
}
