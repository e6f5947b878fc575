// Package rlp reads the fields of an RLP list in place, strictly, and writes
// the few things that a signature adds. Ethereum and Tempo share it.
//
// Splitting off one item, with its checks for the canonical length, is
// go-ethereum's rlp.Split. What is ours is the walk over named fields: which
// one it is, where it begins, and what is wrong with it.
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
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
)

// Span is a part of the raw transaction: the bytes from Start to End.
type Span struct{ Start, End int }

// Of returns the bytes of the span.
func (s Span) Of(raw []byte) []byte { return raw[s.Start:s.End] }

// Len returns the number of bytes in the span.
func (s Span) Len() int { return s.End - s.Start }

// Fields walks the items of one list by name. Its methods read the next item;
// after the first fault they return zero values, and Err returns the fault.
type Fields struct {
	chain  string
	raw    []byte
	at     int
	end    int
	number int // items read so far
	err    error

	// Where this list stands: the fields that were opened on the way to it.
	// Kept as it is, and put into words only when there is a fault to report.
	within [maxDepth]step
	depth  int
}

type step struct {
	name   string
	number int
}

// maxDepth is how deep the lists of a transaction lie in one another at the
// most: the recipients in a rule in a scope's rules in the scopes in a Tempo key
// authorization, which is seven, and one to spare. Nesting is written down in our
// readers, never driven by the input.
const maxDepth = 8

// Open starts reading the list at offset at, which must reach to the end of
// raw: the outermost list of a transaction.
func Open(chain string, raw []byte, at int) Fields {
	f := Fields{chain: chain, raw: raw, at: at, end: len(raw)}
	if at >= len(raw) {
		f.fail("", at, "the list of fields is missing")
		return f
	}
	kind, content, rest, err := rlp.Split(raw[at:])
	switch {
	case err != nil:
		f.fail("", at, explain(err))
	case kind != rlp.List:
		f.fail("", at, "a string where the list of fields should be")
	case len(rest) > 0:
		f.fail("", len(raw)-len(rest), byteCount(len(rest))+" trailing after the list of fields")
	}
	if f.err == nil {
		f.at = len(raw) - len(content)
	}
	return f
}

// Err returns the first fault, a *chains.ParseError, or nil.
func (f *Fields) Err() error { return f.err }

// Rest returns the span of the items that were not read yet.
func (f *Fields) Rest() Span { return Span{f.at, f.end} }

// More reports whether there are items left and no fault.
func (f *Fields) More() bool { return f.err == nil && f.at < f.end }

// Count returns the number of items left, or −1 if one of them is malformed:
// who reads on finds it and names it.
func (f *Fields) Count() int {
	if f.err != nil {
		return -1
	}
	count, err := rlp.CountValues(f.raw[f.at:f.end])
	if err != nil {
		return -1
	}
	return count
}

// Close ends the walk: nothing may be left in the list.
func (f *Fields) Close() error {
	if f.More() {
		f.fail("", f.at, fmt.Sprintf("%s left over after item %d", byteCount(f.end-f.at), f.number))
	}
	return f.err
}

// NextIsList reports whether the next item is a list, without reading it.
func (f *Fields) NextIsList() bool {
	return f.More() && f.raw[f.at] >= 0xc0
}

// SkipEmptyList reads over the next item if it is the empty list, c0, and reports
// whether it was. It is faster than walking over nothing.
func (f *Fields) SkipEmptyList() bool {
	if !f.More() || f.raw[f.at] != 0xc0 {
		return false
	}
	f.at++
	f.number++
	return true
}

// NextIsEmpty reports whether the next item is the empty string, 80, without
// reading it.
func (f *Fields) NextIsEmpty() bool {
	return f.More() && f.raw[f.at] == 0x80
}

// Raw reads an item of either kind and returns it with its header.
func (f *Fields) Raw(name string) []byte {
	start := f.at
	if f.Item(name); f.err != nil {
		return nil
	}
	return f.raw[start:f.at]
}

// Item reads an item of either kind. content is the span of what it holds.
func (f *Fields) Item(name string) (content Span, isList bool) {
	if f.err != nil {
		return Span{}, false
	}
	start := f.at
	f.number++
	if start >= f.end {
		f.fail(name, start, "missing")
		return Span{}, false
	}
	kind, value, rest, err := rlp.Split(f.raw[start:f.end])
	if err != nil {
		f.fail(name, start, explain(err))
		return Span{}, false
	}
	f.at = f.end - len(rest)
	return Span{f.at - len(value), f.at}, kind == rlp.List
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
	if f.err == nil && content.Len() != size {
		f.fail(name, start, fmt.Sprintf("%s, want %d", byteCount(content.Len()), size))
	}
	if f.err != nil {
		return nil
	}
	return content.Of(f.raw)
}

// Address reads a 20-byte address.
func (f *Fields) Address(name string) (address [20]byte) {
	copy(address[:], f.Bytes(name, 20))
	return address
}

// OptionalAddress reads 20 bytes or none: a "to", which is empty for a creation.
func (f *Fields) OptionalAddress(name string) (address [20]byte, present bool) {
	start := f.at
	content := f.String(name)
	switch {
	case f.err != nil || content.Len() == 0:
		return address, false
	case content.Len() != 20:
		f.fail(name, start, byteCount(content.Len())+", want 20 or none")
		return address, false
	}
	copy(address[:], content.Of(f.raw))
	return address, true
}

// uint reads an integer of at most size bytes, canonical: big-endian without
// leading zeros, zero as the empty string.
func (f *Fields) uint(name string, size int) []byte {
	start := f.at
	content := f.String(name)
	if f.err != nil {
		return nil
	}
	digits := content.Of(f.raw)
	switch {
	case len(digits) > 0 && digits[0] == 0:
		f.fail(name, start, "integer has a leading zero")
	case len(digits) > size:
		f.fail(name, start, fmt.Sprintf("integer of %d bits is over %d", 8*len(digits), 8*size))
	default:
		return digits
	}
	return nil
}

// Uint8 reads an integer below 2^8.
func (f *Fields) Uint8(name string) uint8 { return uint8(f.uint64(name, 1)) }

// Uint64 reads an integer below 2^64.
func (f *Fields) Uint64(name string) uint64 { return f.uint64(name, 8) }

func (f *Fields) uint64(name string, size int) uint64 {
	var padded [8]byte
	digits := f.uint(name, size)
	copy(padded[8-len(digits):], digits)
	return binary.BigEndian.Uint64(padded[:])
}

// Uint256 reads an integer below 2^256.
func (f *Fields) Uint256(name string) (value uint256.Int) {
	value.SetBytes(f.uint(name, 32))
	return value
}

// List reads a list item and returns a walk over its items. A fault in there
// is to be taken back with Join.
func (f *Fields) List(name string) Fields {
	start := f.at
	content, isList := f.Item(name)
	if f.err == nil && !isList {
		f.fail(name, start, "a string where a list should be")
	}
	inner := Fields{chain: f.chain, raw: f.raw, at: content.Start, end: content.End, err: f.err, within: f.within, depth: f.depth + 1}
	inner.within[f.depth] = step{name, f.number}
	return inner
}

// Join closes the walk over an inner list and takes over its fault.
func (f *Fields) Join(inner *Fields) {
	if err := inner.Close(); f.err == nil {
		f.err = err
	}
}

// Fail records a fault of a field that was read, unless there is one already.
// at is the byte offset.
func (f *Fields) Fail(name string, at int, format string, args ...any) {
	if f.err == nil {
		f.fail(name, at, fmt.Sprintf(format, args...))
	}
}

// At returns the byte offset of the next item.
func (f *Fields) At() int { return f.at }

// fail keeps the first fault only.
func (f *Fields) fail(name string, at int, problem string) {
	if f.err == nil {
		f.err = &chains.ParseError{Kind: chains.ErrMalformed, Chain: f.chain, Field: f.path(name), Offset: at, Problem: problem}
	}
}

// path names a field with the lists it stands in, such as
//
//	field 9 (accessList), item 2 (entry), item 1 (address)
//
// Fields and items are counted from 1.
func (f *Fields) path(name string) string {
	path := ""
	for depth := 0; depth <= f.depth; depth++ {
		at := step{name, f.number}
		if depth < f.depth {
			at = f.within[depth]
		}
		switch {
		case at.name == "":
		case path == "":
			path = fmt.Sprintf("field %d (%s)", at.number, at.name)
		default:
			path += fmt.Sprintf(", item %d (%s)", at.number, at.name)
		}
	}
	return path
}

func byteCount(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

func explain(err error) string {
	switch {
	case errors.Is(err, rlp.ErrCanonSize):
		return "the length is not in its shortest form"
	case errors.Is(err, rlp.ErrValueTooLarge), errors.Is(err, io.ErrUnexpectedEOF):
		return "the length reaches past the end: cut off, or a byte is wrong"
	}
	return err.Error()
}
