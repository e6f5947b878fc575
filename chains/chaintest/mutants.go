package chaintest

import (
	"iter"
	"slices"
	"testing"
)

// Boundaries are the bytes at which the meaning of an RLP header, a varint, a compact-u16
// or a transaction type changes.
var Boundaries = []byte{0, 1, 2, 3, 4, 5, 0x1b, 0x1d, 0x7f, 0x80, 0x81, 0xb7, 0xb8, 0xbf, 0xc0, 0xc1, 0xf7, 0xf8, 0xfd, 0xfe, 0xff}

// EveryByte has all 256 bytes.
var EveryByte = func() []byte {
	values := make([]byte, 256)
	for i := range values {
		values[i] = byte(i)
	}
	return values
}()

// Mutants yields copies of raw bytes with one change. At each offset, the bytes are truncated, or
// the byte there is removed, repeated, replaced by each of the values, has each of its bits
// flipped, or is preceded by each of the values. Each of the values is also appended. With -short
// the values are Boundaries, and only every fifth offset of more than 64 bytes is changed.
func Mutants(raw, values []byte) iter.Seq[[]byte] {
	step := 1
	if testing.Short() {
		values = Boundaries
		if len(raw) > 64 {
			step = 5
		}
	}
	return func(yield func([]byte) bool) {
		for offset := 0; offset < len(raw); offset += step {
			if !cuts(raw, offset, yield) || !replacements(raw, offset, values, yield) || !insertions(raw, offset, values, yield) {
				return
			}
		}
		insertions(raw, len(raw), values, yield)
	}
}

func cuts(raw []byte, offset int, yield func([]byte) bool) bool {
	return yield(slices.Clone(raw[:offset])) &&
		yield(slices.Delete(slices.Clone(raw), offset, offset+1)) &&
		yield(slices.Insert(slices.Clone(raw), offset, raw[offset]))
}

func replacements(raw []byte, offset int, values []byte, yield func([]byte) bool) bool {
	for bit := range 8 {
		if !yield(replaced(raw, offset, raw[offset]^1<<bit)) {
			return false
		}
	}
	for _, value := range values {
		if value != raw[offset] && !yield(replaced(raw, offset, value)) {
			return false
		}
	}
	return true
}

func insertions(raw []byte, offset int, values []byte, yield func([]byte) bool) bool {
	for _, value := range values {
		if !yield(slices.Insert(slices.Clone(raw), offset, value)) {
			return false
		}
	}
	return true
}

func replaced(raw []byte, offset int, value byte) []byte {
	mutant := slices.Clone(raw)
	mutant[offset] = value
	return mutant
}
