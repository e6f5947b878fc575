// Package rlp reads the fields of an RLP list in place, strictly, and writes the few
// items that a signature adds. Ethereum and Tempo share it.
//
// go-ethereum's rlp.Split splits items and detects malformed ones. This package walks
// named fields, and says which field is wrong, where it begins, and why.
//
// Format: the Ethereum yellow paper, appendix B.
//
//	00–7f        one byte, itself
//	80–b7        string of 0–55 bytes
//	b8–bf        string, 1–8 bytes of length (canonical: at least 56)
//	c0–f7        list of 0–55 bytes
//	f8–ff        list, 1–8 bytes of length (canonical: at least 56)
package rlp

import (
	"fmt"
	"math"
	"strconv"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/chains"
)

// Fields walks the items of one list by name. Its methods read the next item;
// after the first fault they return zero values, and Err returns the fault.
type Fields struct {
	chain  string
	raw    []byte
	at     int
	end    int
	number int    // items read so far
	list   string // name of this list in the one around it; "" if outermost
	fault  *chains.ParseError
}

// Open starts reading the list at offset at, the outermost list of a transaction, which
// must reach to the end of raw.
func Open(chain string, raw []byte, offset int) Fields {
	f := Fields{chain: chain, raw: raw, at: offset, end: len(raw)}
	switch {
	case len(raw) > math.MaxInt32:
		f.fail("", 0, "over 2 GiB")
		return f
	case offset >= len(raw):
		f.fail("", offset, "the list of fields is missing")
		return f
	}
	content, isList, err := split(raw, offset)
	switch {
	case err != nil:
		f.fail("", offset, explain(err))
	case !isList:
		f.fail("", offset, "a string where the list of fields should be")
	case int(content.End) < len(raw):
		f.fail("", int(content.End), byteCount(len(raw)-int(content.End))+" trailing after the list of fields")
	default:
		f.at = int(content.Start)
	}
	return f
}

// Err returns the first fault, a *chains.ParseError, or nil.
func (f *Fields) Err() error {
	if f.fault == nil {
		return nil
	}
	return f.fault
}

// Rest returns the span of the items that have not been read.
func (f *Fields) Rest() Span { return Between(f.at, f.end) }

// More reports whether there are items left and no fault.
func (f *Fields) More() bool { return f.fault == nil && f.at < f.end }

// Count returns the number of items left, or −1 if one of them is malformed: reading on
// finds and names it.
func (f *Fields) Count() int {
	if f.fault != nil {
		return -1
	}
	count, err := rlp.CountValues(f.raw[f.at:f.end])
	if err != nil {
		return -1
	}
	return count
}

// Close ends the walk. It fails if items are left in the list.
func (f *Fields) Close() error {
	if f.More() {
		f.fail("", f.at, fmt.Sprintf("%s left over after item %d", byteCount(f.end-f.at), f.number))
	}
	return f.Err()
}

// NextIsList reports whether the next item is a list, without reading it.
func (f *Fields) NextIsList() bool {
	return f.More() && f.raw[f.at] >= 0xc0
}

// SkipEmptyList skips the next item if it is the empty list, c0, and reports whether it was.
func (f *Fields) SkipEmptyList() bool {
	if !f.More() || f.raw[f.at] != 0xc0 {
		return false
	}
	f.at++
	f.number++
	return true
}

// NextIsEmpty reports whether the next item is the empty string, 80, without reading it.
func (f *Fields) NextIsEmpty() bool {
	return f.More() && f.raw[f.at] == 0x80
}

// Raw reads an item of either kind and returns it with its header.
func (f *Fields) Raw(name string) []byte {
	start := f.at
	if f.Item(name); f.fault != nil {
		return nil
	}
	return f.raw[start:f.at]
}

// Item reads an item of either kind and returns the span of its content.
func (f *Fields) Item(name string) (content Span, isList bool) {
	if f.fault != nil {
		return Span{}, false
	}
	start := f.at
	f.number++
	if start >= f.end {
		f.fail(name, start, "missing")
		return Span{}, false
	}
	content, isList, err := split(f.raw[:f.end], start)
	if err != nil {
		f.fail(name, start, explain(err))
		return Span{}, false
	}
	f.at = int(content.End)
	return content, isList
}

// String reads a string item and returns the span of its bytes.
func (f *Fields) String(name string) Span {
	start := f.at
	content, isList := f.Item(name)
	if isList {
		f.fail(name, start, "a list where a string should be")
		return Span{}
	}
	return content
}

// Bytes reads a string item of exactly size bytes.
func (f *Fields) Bytes(name string, size int) []byte {
	start := f.at
	content := f.String(name)
	if f.fault == nil && content.Len() != size {
		f.failLength(name, start, content, strconv.Itoa(size))
	}
	if f.fault != nil {
		return nil
	}
	return content.Of(f.raw)
}

// Address reads a 20-byte address.
func (f *Fields) Address(name string) (address [20]byte) {
	if content := f.Bytes(name, 20); content != nil {
		address = [20]byte(content)
	}
	return address
}

// OptionalAddress reads 20 bytes or none: a "to", which is empty for a creation.
func (f *Fields) OptionalAddress(name string) (address [20]byte, present bool) {
	start := f.at
	content := f.String(name)
	switch {
	case f.fault != nil || content.Len() == 0:
		return address, false
	case content.Len() != 20:
		f.failLength(name, start, content, "20 or none")
		return address, false
	}
	return [20]byte(content.Of(f.raw)), true
}

// uint reads an integer of at most size bytes, canonical: big-endian without
// leading zeros, zero as the empty string.
func (f *Fields) uint(name string, size int) Span {
	start := f.at
	content := f.String(name)
	if f.fault != nil {
		return Span{}
	}
	switch digits := content.Of(f.raw); {
	case len(digits) > 0 && digits[0] == 0:
		f.fail(name, start, "integer has a leading zero")
	case len(digits) > size:
		f.fail(name, start, fmt.Sprintf("integer of %d bits is over %d", 8*len(digits), 8*size))
	default:
		return content
	}
	return Span{}
}

// Uint8 reads an integer below 2^8.
func (f *Fields) Uint8(name string) uint8 { return uint8(f.uint64(name, 1)) }

// Uint64 reads an integer below 2^64.
func (f *Fields) Uint64(name string) uint64 { return f.uint64(name, 8) }

// uint64 reads an integer of at most 8 bytes.
func (f *Fields) uint64(name string, size int) (value uint64) {
	for _, digit := range f.uint(name, size).Of(f.raw) {
		value = value<<8 | uint64(digit)
	}
	return value
}

// Uint256 reads an integer below 2^256 and returns the span of its bytes: as many
// as it takes, big-endian.
func (f *Fields) Uint256(name string) Span { return f.uint(name, 32) }

// List reads a list item and returns a walk over its items. The caller must Join that walk before
// it reads on: only then does a fault in the inner list have its whole path.
func (f *Fields) List(name string) Fields {
	start := f.at
	content, isList := f.Item(name)
	if f.fault == nil && !isList {
		f.fail(name, start, "a string where a list should be")
	}
	return Fields{chain: f.chain, raw: f.raw, at: int(content.Start), end: int(content.End), list: name, fault: f.fault}
}

// Join closes the walk over an inner list and takes over its fault, with its place in this list.
func (f *Fields) Join(inner *Fields) {
	if err := inner.Close(); err == nil || f.fault != nil {
		return
	}
	f.fault = inner.fault
	place := f.step(inner.list)
	if f.fault.Field != "" { // such as field 9 (accessList), item 2 (entry), item 1 (address)
		place += ", " + f.fault.Field
	}
	f.fault.Field = place
}

// At returns the byte offset of the next item.
func (f *Fields) At() int { return f.at }

func split(raw []byte, offset int) (content Span, isList bool, err error) {
	kind, value, rest, err := rlp.Split(raw[offset:])
	if err != nil {
		return Span{}, false, err
	}
	end := len(raw) - len(rest)
	return Between(end-len(value), end), kind == rlp.List, nil
}
