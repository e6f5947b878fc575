package tron

import (
	"iter"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// value is the position of a field in the raw bytes. The zero value is an absent field.
type value struct {
	// The payload is raw[start:end]; of a repeated field, all its entries with their
	// tags. The offsets are 32 bits because a transaction keeps many values, and is
	// below 2 GiB.
	start, end int32

	number int64 // of a varint
}

// between returns the value whose payload is raw[from:to].
func between(from, to int) value { return value{start: int32(from), end: int32(to)} }

func (v value) from() int            { return int(v.start) }
func (v value) to() int              { return int(v.end) }
func (v value) of(raw []byte) []byte { return raw[v.start:v.end] }

func (v value) present() bool { return v.end > 0 }

// maxFields is the largest number of fields of a message: AssetIssueContract's.
const maxFields = 19

// values are a message's fields, in the order of its table.
type values [maxFields]value

// readVarint reads a varint of up to 64 bits in its shortest form.
func readVarint(raw []byte, at, end int, field string) (number uint64, after int, err error) {
	if at < end && raw[at] < 0x80 {
		return uint64(raw[at]), at + 1, nil // one byte, as most are
	}
	number, size := protowire.ConsumeVarint(raw[at:end])
	switch {
	case size < 0 && end-at < 10:
		return 0, at, malformed(field, at, "the varint is cut off")
	case size < 0:
		return 0, at, malformed(field, at, "the varint is over 64 bits")
	case size != protowire.SizeVarint(number):
		return 0, at, malformed(field, at, "the varint has %d bytes where %d would do", size, protowire.SizeVarint(number))
	}
	return number, at + size, nil
}

// readTag reads a field's number and wire type.
func readTag(raw []byte, at, end int, message string) (number uint64, wire protowire.Type, after int, err error) {
	tag, after, err := readVarint(raw, at, end, message)
	if err != nil {
		return 0, 0, at, err
	}
	number, wire = tag>>3, protowire.Type(tag&7)
	switch {
	case number == 0 || number > uint64(protowire.MaxValidNumber):
		return 0, 0, at, malformed(message, at, "field number %d does not exist in Protocol Buffers", number)
	case wire == protowire.StartGroupType || wire == protowire.EndGroupType:
		return 0, 0, at, malformed(message, at, "field %d is a group, which proto3 does not have", number)
	case wire > protowire.Fixed32Type:
		return 0, 0, at, malformed(message, at, "field %d has wire type %d, which does not exist", number, wire)
	}
	return number, wire, after, nil
}

// readLength reads a length and returns the position of the bytes that it counts.
func readLength(raw []byte, at, end int, field string) (from, to int, err error) {
	length, from, err := readVarint(raw, at, end, field)
	switch {
	case err != nil:
		return 0, 0, err
	case length > math.MaxInt32 || int(length) > end-from:
		return 0, 0, malformed(field, at, "its length is %d, but only %d bytes are left", length, end-from)
	}
	return from, from + int(length), nil
}

// entries yields the entries of a repeated field that was read.
func entries(raw []byte, repeated value) iter.Seq[value] {
	return func(yield func(value) bool) {
		for at := repeated.from(); at < repeated.to(); {
			_, _, tag := protowire.ConsumeTag(raw[at:repeated.to()])
			payload, size := protowire.ConsumeBytes(raw[at+tag : repeated.to()])
			at += tag + size
			if !yield(between(at-len(payload), at)) {
				return
			}
		}
	}
}
