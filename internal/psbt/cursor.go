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
// that faults have offsets in the whole.
type cursor struct {
	data []byte
	base int
	at   int
}

func (c *cursor) offset() int    { return c.base + c.at }
func (c *cursor) remaining() int { return len(c.data) - c.at }

func (c *cursor) fault(offset int, format string, args ...any) error {
	return &fault{offset, fmt.Sprintf(format, args...)}
}

// take returns the next n bytes, a view.
func (c *cursor) take(n uint64) ([]byte, error) {
	if n > uint64(c.remaining()) {
		return nil, c.fault(c.offset(), "%d bytes wanted, %d left: the bytes are cut off or a length is wrong", n,
			c.remaining())
	}
	taken := c.data[c.at : c.at+int(n) : c.at+int(n)]
	c.at += int(n)
	return taken, nil
}

// uint32 reads four bytes, little-endian.
func (c *cursor) uint32() (uint32, error) {
	four, err := c.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(four), nil
}

// uint64 reads eight bytes, little-endian.
func (c *cursor) uint64() (uint64, error) {
	eight, err := c.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(eight), nil
}

// compactSize reads Bitcoin's length prefix and refuses all but its shortest
// form:
//
//	00…fc             the number itself
//	fd  uint16        from fd
//	fe  uint32        from 1 0000
//	ff  uint64        from 1 0000 0000
func (c *cursor) compactSize() (uint64, error) {
	start := c.offset()
	first, err := c.take(1)
	if err != nil {
		return 0, err
	}
	if first[0] < 0xfd {
		return uint64(first[0]), nil
	}
	var eight [8]byte
	length := 1 << (first[0] - 0xfc)
	if c.remaining() < length {
		return 0, c.fault(start, "compact size is cut off")
	}
	copy(eight[:], c.data[c.at:c.at+length])
	value := binary.LittleEndian.Uint64(eight[:])
	if CompactSizeLen(value) <= length {
		return 0, c.fault(start, "compact size of %d is not in its shortest form", value)
	}
	c.at += length
	return value, nil
}

// sized reads a compact size and that many bytes, a view.
func (c *cursor) sized() ([]byte, error) {
	start := c.offset()
	length, err := c.compactSize()
	if err != nil {
		return nil, err
	}
	if length > uint64(c.remaining()) {
		return nil, c.fault(start, "length %d is beyond the end: %d bytes are left", length, c.remaining())
	}
	return c.take(length)
}

// end returns a fault if bytes are left over.
func (c *cursor) end() error {
	if c.remaining() > 0 {
		return c.fault(c.offset(), "%d bytes left over", c.remaining())
	}
	return nil
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
