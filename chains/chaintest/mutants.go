package chaintest

import (
	"iter"
	"slices"
	"testing"
)

// Boundaries are the bytes at which the meaning of an RLP header, of a varint,
// of a compact-u16 or of a transaction's type changes.
var Boundaries = []byte{0, 1, 2, 3, 4, 5, 0x1b, 0x1d, 0x7f, 0x80, 0x81, 0xb7, 0xb8, 0xbf, 0xc0, 0xc1, 0xf7, 0xf8, 0xfd, 0xfe, 0xff}

// EveryByte are all 256.
var EveryByte = func() []byte {
	values := make([]byte, 256)
	for i := range values {
		values[i] = byte(i)
	}
	return values
}()

// Mutants yields raw bytes with one thing changed, at each place in them: cut
// off there; the byte there left out, written twice, with each of its bits
// flipped, replaced by each of the values; each of the values put in front of
// it, and behind the end. A mutant is a copy. With -short the values are Boundaries, and
// of more than 64 bytes each fifth place is changed.
func Mutants(raw, values []byte) iter.Seq[[]byte] {
	step := 1
	if testing.Short() {
		values = Boundaries
		if len(raw) > 64 {
			step = 5
		}
	}
	return func(yield func([]byte) bool) {
		for at := 0; at < len(raw); at += step {
			if !cuts(raw, at, yield) || !replacements(raw, at, values, yield) || !insertions(raw, at, values, yield) {
				return
			}
		}
		insertions(raw, len(raw), values, yield)
	}
}

func cuts(raw []byte, at int, yield func([]byte) bool) bool {
	return yield(slices.Clone(raw[:at])) &&
		yield(slices.Delete(slices.Clone(raw), at, at+1)) &&
		yield(slices.Insert(slices.Clone(raw), at, raw[at]))
}

func replacements(raw []byte, at int, values []byte, yield func([]byte) bool) bool {
	for bit := range 8 {
		if !yield(replaced(raw, at, raw[at]^1<<bit)) {
			return false
		}
	}
	for _, value := range values {
		if value != raw[at] && !yield(replaced(raw, at, value)) {
			return false
		}
	}
	return true
}

func insertions(raw []byte, at int, values []byte, yield func([]byte) bool) bool {
	for _, value := range values {
		if !yield(slices.Insert(slices.Clone(raw), at, value)) {
			return false
		}
	}
	return true
}

func replaced(raw []byte, at int, value byte) []byte {
	mutant := slices.Clone(raw)
	mutant[at] = value
	return mutant
}
