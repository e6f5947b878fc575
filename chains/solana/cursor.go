package solana

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// cursor reads forward through raw bytes, never past their end. The first error is kept, and
// what is read after it is zero. Errors of the cursor name the field that was being read and
// the offset at which it begins.
type cursor struct {
	raw    []byte
	offset int
	err    error
}

func malformed(field string, offset int, format string, arguments ...any) *chains.ParseError {
	return &chains.ParseError{
		Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset,
		Problem: fmt.Sprintf(format, arguments...),
	}
}

// item names one item of a list in a message: item("accounts", 2) is "accounts[2]".
func item(list string, index int) string { return fmt.Sprintf("%s[%d]", list, index) }

// within qualifies the field of a *chains.ParseError with the item of a list that it
// belongs to: "data" within instructions, 2 becomes "instructions[2].data".
func within(err error, list string, index int) error {
	if parse, ok := errors.AsType[*chains.ParseError](err); ok {
		parse.Field = item(list, index) + "." + parse.Field
	}
	return err
}

func (c *cursor) fail(err error) {
	c.err = cmp.Or(c.err, err)
}

func (c *cursor) refuse(field string, offset int, format string, arguments ...any) {
	if c.err == nil { // after an error, reading on formats no more
		c.err = malformed(field, offset, format, arguments...)
	}
}

func (c *cursor) left() int { return len(c.raw) - c.offset }

func (c *cursor) take(size uint64, field string) []byte {
	if size > uint64(c.left()) {
		c.refuse(field, c.offset, "cut off: %d bytes are needed, %d are left", size, c.left())
	}
	if c.err != nil {
		return nil
	}
	offset := c.offset
	c.offset += int(size)
	return c.raw[offset:c.offset]
}

func (c *cursor) rest() []byte { return c.take(uint64(c.left()), "") }

// skip moves over size bytes and returns the offset at which they begin.
func (c *cursor) skip(size int, field string) int {
	offset := c.offset
	c.take(uint64(size), field)
	return offset
}

func (c *cursor) uint(size int, field string) uint64 {
	var wide [8]byte
	copy(wide[:], c.take(uint64(size), field))
	return binary.LittleEndian.Uint64(wide[:])
}

func (c *cursor) uint8(field string) byte    { return byte(c.uint(1, field)) }
func (c *cursor) uint32(field string) uint32 { return uint32(c.uint(4, field)) }

// compactU16 reads Solana's variable-length 16-bit number: seven bits a byte, the lowest first, the
// high bit set in every byte but the last. Only the shortest form is accepted.
func (c *cursor) compactU16(field string) int {
	begin, value := c.offset, 0
	for shift := 0; shift <= 14 && c.err == nil; shift += 7 {
		next := c.uint8(field)
		value |= int(next&0x7f) << shift
		switch {
		case next&0x80 != 0:
			continue
		case next == 0 && shift > 0:
			c.refuse(field, begin, "compact-u16 %d is not in its shortest form", value)
		case value > 0xffff:
			c.refuse(field, begin, "compact-u16 is %d: over 65535", value)
		}
		return value
	}
	c.refuse(field, begin, "compact-u16 is longer than 3 bytes")
	return 0
}

// counted reads a compact-u16 count and moves over that many items of size bytes
// each. It returns the offset of the first item and the count.
func (c *cursor) counted(size int, field string) (offset, count int) {
	count = c.compactU16(field)
	return c.skip(count*size, field), count
}
