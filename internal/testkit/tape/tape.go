// Package tape makes choices from bytes, so that a fuzzer can steer a generator or a
// sequence of operations. An exhausted tape always yields the first choice; loops must
// check More.
package tape

import "encoding/binary"

// Tape is a sequence of bytes to make choices from. The zero value is exhausted.
type Tape struct{ rest []byte }

// New returns a tape of data, which it does not modify.
func New(data []byte) *Tape { return &Tape{data} }

// More reports whether the tape is not exhausted.
func (t *Tape) More() bool { return len(t.rest) > 0 }

// Byte returns the next byte, or 0 if the tape is exhausted.
func (t *Tape) Byte() byte {
	if len(t.rest) == 0 {
		return 0
	}
	first := t.rest[0]
	t.rest = t.rest[1:]
	return first
}

// Intn returns a number from 0 to n-1; n must be at least 1. It consumes one byte for n
// up to 256 and two bytes for larger n, of which it reaches at most 65,535.
func (t *Tape) Intn(n int) int {
	if n <= 256 {
		return int(t.Byte()) % n
	}
	return (int(t.Byte())<<8 | int(t.Byte())) % n
}

// Bool returns true or false.
func (t *Tape) Bool() bool { return t.Byte()&1 == 1 }

// OneIn returns true once in n times, and never if the tape is exhausted.
func (t *Tape) OneIn(n int) bool { return t.Intn(n) == n-1 && n > 1 }

// Bytes returns n bytes, which are zero where the tape is exhausted.
func (t *Tape) Bytes(n int) []byte {
	out := make([]byte, n)
	t.rest = t.rest[copy(out, t.rest):]
	return out
}

// Uint64 returns a number. The first byte chooses how many bytes it has.
func (t *Tape) Uint64() uint64 {
	var number [8]byte
	size := t.Intn(9)
	copy(number[8-size:], t.Bytes(size))
	return binary.BigEndian.Uint64(number[:])
}

// Pick returns one of the choices.
func Pick[T any](t *Tape, choices ...T) T { return choices[t.Intn(len(choices))] }
