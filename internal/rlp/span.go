package rlp

import (
	"bytes"
	"math/big"
	"math/bits"

	"github.com/holiman/uint256"
)

// Span is a part of the raw transaction: the bytes from Start to End. Its offsets are
// 32 bits because transactions, which are below 2 GiB, keep many spans.
type Span struct{ Start, End int32 }

// Between returns the span from one byte offset to another.
func Between(start, end int) Span { return Span{int32(start), int32(end)} }

// Of returns the bytes of the span.
func (s Span) Of(raw []byte) []byte { return raw[s.Start:s.End] }

// Len returns the number of bytes in the span.
func (s Span) Len() int { return int(s.End - s.Start) }

// Big returns the bytes of the span as a big-endian integer.
func (s Span) Big(raw []byte) *big.Int { return Big(s.Of(raw)) }

// Big returns bytes as a big-endian integer. Up to 256 bits are in one allocation with it.
func Big(raw []byte) *big.Int {
	if len(raw) == 0 {
		return new(big.Int)
	}
	number := new(struct {
		value big.Int
		words [256 / bits.UintSize]big.Word
	})
	return number.value.SetBits(number.words[:0]).SetBytes(raw)
}

// Uint256 returns the bytes of the span, at most 32, as a big-endian integer.
func (s Span) Uint256(raw []byte) (value uint256.Int) {
	value.SetBytes(s.Of(raw))
	return value
}

// Less reports whether a < b, for integers without leading zeros.
func Less(a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return bytes.Compare(a, b) < 0
}
