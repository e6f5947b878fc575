package tron

import (
	"fmt"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/chains"
)

// value is the position of a field in the raw bytes. The zero value is an absent field.
type value struct {
	// The payload is raw[start:end]; of a repeated field, all its entries with their tags. The
	// offsets are 32 bits because a transaction keeps many values, and is below 2 GiB.
	start, end int32

	number int64 // of a varint
}

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
func readVarint(raw []byte, offset, end int, field string) (number uint64, after int, err error) {
	if offset < end && raw[offset] < 0x80 {
		return uint64(raw[offset]), offset + 1, nil // one byte, as most are
	}
	number, size := protowire.ConsumeVarint(raw[offset:end])
	switch {
	case size < 0 && end-offset < 10:
		return 0, offset, malformed(field, offset, "the varint is cut off")
	case size < 0:
		return 0, offset, malformed(field, offset, "the varint is over 64 bits")
	case size != protowire.SizeVarint(number):
		return 0, offset, malformed(field, offset, "the varint has %d bytes where %d would do", size,
			protowire.SizeVarint(number))
	}
	return number, offset + size, nil
}

func readTag(raw []byte, offset, end int, message string) (number uint64, wire protowire.Type, after int, err error) {
	tag, after, err := readVarint(raw, offset, end, message)
	if err != nil {
		return 0, 0, offset, err
	}
	number, wire = tag>>3, protowire.Type(tag&7)
	switch {
	case number == 0 || number > uint64(protowire.MaxValidNumber):
		return 0, 0, offset, malformed(message, offset, "field number %d does not exist in Protocol Buffers", number)
	case wire == protowire.StartGroupType || wire == protowire.EndGroupType:
		return 0, 0, offset, malformed(message, offset, "field %d is a group, which proto3 does not have", number)
	case wire > protowire.Fixed32Type:
		return 0, 0, offset, malformed(message, offset, "field %d has wire type %d, which does not exist", number, wire)
	}
	return number, wire, after, nil
}

// entries yields the entries of a repeated field that was read.
func entries(raw []byte, repeated value) iter.Seq[value] {
	return func(yield func(value) bool) {
		for offset := repeated.from(); offset < repeated.to(); {
			_, _, tag := protowire.ConsumeTag(raw[offset:repeated.to()])
			payload, size := protowire.ConsumeBytes(raw[offset+tag : repeated.to()])
			offset += tag + size
			if !yield(between(offset-len(payload), offset)) {
				return
			}
		}
	}
}

func malformed(field string, offset int, format string, args ...any) *chains.ParseError {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset,
		Problem: fmt.Sprintf(format, args...)}
}
