package psbt

import (
	"encoding/binary"
	"fmt"
)

// fault is a problem at a byte offset, before the field is known.
type fault struct {
	offset  int
	problem string
}

func (f *fault) Error() string { return f.problem }

// cursor reads data from the front. base is the offset of data in the whole PSBT, so
// that faults have offsets in the whole. After the first fault nothing is left: what is read then is
// zero, and empty.
type cursor struct {
	data []byte
	base int
	at   int
	err  error // the first fault
}

func (c *cursor) offset() int    { return c.base + c.at }
func (c *cursor) remaining() int { return len(c.data) - c.at }

// fail notes a fault, unless there was one.
func (c *cursor) fail(offset int, format string, args ...any) {
	if c.err == nil {
		c.err = &fault{offset, fmt.Sprintf(format, args...)}
	}
	c.at = len(c.data)
}

// take returns the next n bytes, a view.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(c.remaining()) {
		c.fail(c.offset(), "%d bytes wanted, %d left: the bytes are cut off or a length is wrong", n, c.remaining())
		return nil
	}
	taken := c.data[c.at : c.at+int(n) : c.at+int(n)]
	c.at += int(n)
	return taken
}

func (c *cursor) uint(n uint64) uint64 {
	var eight [8]byte
	copy(eight[:], c.take(n))
	return binary.LittleEndian.Uint64(eight[:])
}

// compactSize reads Bitcoin's length prefix and refuses all but its shortest form:
//
//	00…fc             the number itself
//	fd  uint16        from fd
//	fe  uint32        from 1 0000
//	ff  uint64        from 1 0000 0000
func (c *cursor) compactSize() uint64 {
	start, value := c.offset(), c.uint(1)
	if value < 0xfd {
		return value
	}
	length := 1 << (value - 0xfc)
	if c.remaining() < length {
		c.fail(start, "compact size is cut off")
		return 0
	}
	if value = c.uint(uint64(length)); CompactSizeLen(value) <= length {
		c.fail(start, "compact size of %d is not in its shortest form", value)
		return 0
	}
	return value
}

// sized reads a compact size and that many bytes, a view.
func (c *cursor) sized() []byte {
	start := c.offset()
	length := c.compactSize()
	if length > uint64(c.remaining()) {
		c.fail(start, "length %d is beyond the end: %d bytes are left", length, c.remaining())
		return nil
	}
	return c.take(length)
}

// end returns the first fault, which may be that bytes are left over.
func (c *cursor) end() error {
	if c.remaining() > 0 {
		c.fail(c.offset(), "%d bytes left over", c.remaining())
	}
	return c.err
}

// AppendCompactSize appends the shortest form of a compact size.
func AppendCompactSize(out []byte, value uint64) []byte {
	switch {
	case value < 0xfd:
		return append(out, byte(value))
	case value < 1<<16:
		return binary.LittleEndian.AppendUint16(append(out, 0xfd), uint16(value))
	case value < 1<<32:
		return binary.LittleEndian.AppendUint32(append(out, 0xfe), uint32(value))
	}
	return binary.LittleEndian.AppendUint64(append(out, 0xff), value)
}

// CompactSizeLen is the number of bytes that AppendCompactSize appends.
func CompactSizeLen(value uint64) int {
	var room [9]byte
	return len(AppendCompactSize(room[:0], value))
}
