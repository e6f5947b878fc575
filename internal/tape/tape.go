// Package tape makes choices from bytes: the bytes of a fuzzer, so that it can
// steer a generator or a sequence of operations, or random ones. An exhausted
// tape always yields the first choice; loops must check More.
package tape

import "encoding/binary"

// Tape is bytes that are read once, from the front. The zero value has run out.
type Tape struct{ rest []byte }

// New makes a tape of bytes, which it does not change.
func New(data []byte) *Tape { return &Tape{data} }

// More reports whether the tape has not run out.
func (t *Tape) More() bool { return len(t.rest) > 0 }

// Byte returns the next byte, 0 if the tape has run out.
func (t *Tape) Byte() byte {
	if len(t.rest) == 0 {
		return 0
	}
	first := t.rest[0]
	t.rest = t.rest[1:]
	return first
}

// Intn returns a number from 0 to n-1; n is at least 1. It costs one byte up to
// an n of 256, two bytes from there on, and reaches 65,535 at most.
func (t *Tape) Intn(n int) int {
	if n <= 256 {
		return int(t.Byte()) % n
	}
	return (int(t.Byte())<<8 | int(t.Byte())) % n
}

// Bool returns one of two.
func (t *Tape) Bool() bool { return t.Byte()&1 == 1 }

// OneIn returns true once in n times, and never when the tape has run out.
func (t *Tape) OneIn(n int) bool { return t.Intn(n) == n-1 && n > 1 }

// Bytes returns n bytes, zeros where the tape has run out.
func (t *Tape) Bytes(n int) []byte {
	out := make([]byte, n)
	t.rest = t.rest[copy(out, t.rest):]
	return out
}

// Uint64 returns a number of any size: its first byte says of how many bytes.
func (t *Tape) Uint64() uint64 {
	var number [8]byte
	size := t.Intn(9)
	copy(number[8-size:], t.Bytes(size))
	return binary.BigEndian.Uint64(number[:])
}

// Pick returns one of several.
func Pick[T any](t *Tape, from ...T) T { return from[t.Intn(len(from))] }
