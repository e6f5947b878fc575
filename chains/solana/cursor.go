package solana

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// cursor reads forward through raw bytes, never past their end. Its errors name
// the field that was being read and the offset at which it begins.
type cursor struct {
	raw    []byte
	offset int
}

func malformed(field string, offset int, format string, arguments ...any) *chains.ParseError {
	return &chains.ParseError{
		Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset,
		Problem: fmt.Sprintf(format, arguments...),
	}
}

// within qualifies the field of a *chains.ParseError with the item of a list that it
// belongs to: "data" within instructions, 2 becomes "instructions[2].data".
func within(err error, list string, index int) error {
	if parse, ok := errors.AsType[*chains.ParseError](err); ok {
		parse.Field = fmt.Sprintf("%s[%d].%s", list, index, parse.Field)
	}
	return err
}

// take moves over size bytes and returns them.
func (c *cursor) take(size uint64, field string) ([]byte, error) {
	if left := len(c.raw) - c.offset; size > uint64(left) {
		return nil, malformed(field, c.offset, "cut off: %d bytes are needed, %d are left", size, left)
	}
	offset := c.offset
	c.offset += int(size)
	return c.raw[offset:c.offset], nil
}

// skip moves over size bytes and returns the offset at which they begin.
func (c *cursor) skip(size int, field string) (int, error) {
	offset := c.offset
	_, err := c.take(uint64(size), field)
	return offset, err
}

func (c *cursor) uint8(field string) (byte, error) {
	raw, err := c.take(1, field)
	if err != nil {
		return 0, err
	}
	return raw[0], nil
}

// uint16, uint32 and uint64 are little-endian.
func (c *cursor) uint16(field string) (uint16, error) {
	raw, err := c.take(2, field)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(raw), nil
}

func (c *cursor) uint32(field string) (uint32, error) {
	raw, err := c.take(4, field)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(raw), nil
}

func (c *cursor) uint64(field string) (uint64, error) {
	raw, err := c.take(8, field)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(raw), nil
}

// compactU16 reads Solana's variable-length 16-bit number: seven bits a byte, the
// lowest first, the high bit set in every byte but the last. Only the shortest
// form is accepted.
func (c *cursor) compactU16(field string) (int, error) {
	begin, value := c.offset, 0
	for shift := 0; shift <= 14; shift += 7 {
		next, err := c.uint8(field)
		if err != nil {
			return 0, err
		}
		value |= int(next&0x7f) << shift
		if next&0x80 != 0 {
			continue
		}
		if next == 0 && shift > 0 {
			return 0, malformed(field, begin, "compact-u16 %d is not in its shortest form", value)
		}
		if value > 0xffff {
			return 0, malformed(field, begin, "compact-u16 is %d: over 65535", value)
		}
		return value, nil
	}
	return 0, malformed(field, begin, "compact-u16 is longer than 3 bytes")
}

// counted reads a compact-u16 count and moves over that many items of size bytes
// each. It returns the offset of the first item and the count.
func (c *cursor) counted(size int, field string) (offset, count int, err error) {
	if count, err = c.compactU16(field); err != nil {
		return 0, 0, err
	}
	offset, err = c.skip(count*size, field)
	return offset, count, err
}

// item names one item of a list in a message: item("accounts", 2) is
// "accounts[2]".
func item(list string, index int) string { return fmt.Sprintf("%s[%d]", list, index) }
