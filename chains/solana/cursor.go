package solana

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// cursor reads forward through raw bytes. It never reads past their end, and
// its errors say which field was to be read and where it begins.
type cursor struct {
	raw []byte
	at  int
}

func malformed(field string, at int, format string, arguments ...any) *chains.ParseError {
	return &chains.ParseError{
		Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: at,
		Problem: fmt.Sprintf(format, arguments...),
	}
}

// within puts the field of an error into the index-th part of a list: "data"
// within instructions, 2 is "instructions[2].data".
func within(err error, list string, index int) error {
	if parse, ok := errors.AsType[*chains.ParseError](err); ok {
		parse.Field = fmt.Sprintf("%s[%d].%s", list, index, parse.Field)
	}
	return err
}

// skip moves over size bytes and returns the offset at which they begin.
func (c *cursor) skip(size int, field string) (int, error) {
	if left := len(c.raw) - c.at; size > left {
		return 0, malformed(field, c.at, "cut off: %d bytes are needed, %d are left", size, left)
	}
	at := c.at
	c.at += size
	return at, nil
}

func (c *cursor) uint8(field string) (byte, error) {
	at, err := c.skip(1, field)
	if err != nil {
		return 0, err
	}
	return c.raw[at], nil
}

// uint16, uint32 and uint64 are little-endian.
func (c *cursor) uint16(field string) (uint16, error) {
	at, err := c.skip(2, field)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(c.raw[at:]), nil
}

func (c *cursor) uint32(field string) (uint32, error) {
	at, err := c.skip(4, field)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(c.raw[at:]), nil
}

func (c *cursor) uint64(field string) (uint64, error) {
	at, err := c.skip(8, field)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(c.raw[at:]), nil
}

// compactU16 reads Solana's variable-length 16-bit number: seven bits a byte,
// the lowest first, the high bit of a byte set if another one follows. It takes
// the shortest form only.
func (c *cursor) compactU16(field string) (int, error) {
	begin, value := c.at, 0
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
			return 0, malformed(field, begin, "compact-u16 %d has a needless byte: only the shortest form is taken", value)
		}
		if value > 0xffff {
			return 0, malformed(field, begin, "compact-u16 is %d: over 65535", value)
		}
		return value, nil
	}
	return 0, malformed(field, begin, "compact-u16 is longer than 3 bytes")
}

// counted reads a compact-u16 count and moves over that many items of size
// bytes. It returns the offset of the first item and their number.
func (c *cursor) counted(size int, field string) (at, count int, err error) {
	if count, err = c.compactU16(field); err != nil {
		return 0, 0, err
	}
	at, err = c.skip(count*size, field)
	return at, count, err
}
