package rlp

import (
	"bytes"
	"math/big"

	"github.com/holiman/uint256"
)

// Span is a part of the raw transaction: the bytes from Start to End. Transactions
// are kept as spans, of which they have many; those that are read have under 2 GiB.
type Span struct{ Start, End int32 }

// Between is the span from one byte offset to another.
func Between(start, end int) Span { return Span{int32(start), int32(end)} }

// Of returns the bytes of the span.
func (s Span) Of(raw []byte) []byte { return raw[s.Start:s.End] }

// Len returns the number of bytes in the span.
func (s Span) Len() int { return int(s.End - s.Start) }

// Big returns the integer that the bytes of the span are.
func (s Span) Big(raw []byte) *big.Int { return new(big.Int).SetBytes(s.Of(raw)) }

// Uint256 returns the integer that the bytes of the span are, which are 32 at most.
func (s Span) Uint256(raw []byte) (value uint256.Int) {
	value.SetBytes(s.Of(raw))
	return value
}

// Less compares two integers as Uint256 reads them.
func Less(a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return bytes.Compare(a, b) < 0
}
