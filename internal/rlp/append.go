package rlp

import (
	"bytes"
	"math/bits"

	"github.com/ethereum/go-ethereum/rlp"
)

// MaxListHeader is the longest list header, in bytes.
const MaxListHeader = 9

// AppendListHeader appends the header of a list whose items take size bytes.
func AppendListHeader(out []byte, size int) []byte {
	if size < 56 {
		return append(out, 0xc0+byte(size))
	}
	digits := (bits.Len(uint(size)) + 7) / 8
	out = append(out, 0xf7+byte(digits))
	for shift := 8 * (digits - 1); shift >= 0; shift -= 8 {
		out = append(out, byte(size>>shift))
	}
	return out
}

// AppendUint appends an integer.
func AppendUint(out []byte, value uint64) []byte { return rlp.AppendUint64(out, value) }

// UintSize is the number of bytes that AppendUint appends.
func UintSize(value uint64) int { return rlp.IntSize(value) }

// AppendScalar appends an integer of at most 32 bytes, given big-endian with
// leading zeros, such as r or s of a signature.
func AppendScalar(out, bigEndian []byte) []byte {
	digits := withoutZeros(bigEndian)
	if len(digits) == 1 && digits[0] < 0x80 {
		return append(out, digits[0])
	}
	return append(append(out, 0x80+byte(len(digits))), digits...)
}

// ScalarSize is the number of bytes that AppendScalar appends.
func ScalarSize(bigEndian []byte) int { return int(rlp.BytesSize(withoutZeros(bigEndian))) }

// ListHeaderSize is the number of bytes that AppendListHeader appends.
func ListHeaderSize(size int) int { return int(rlp.ListSize(uint64(size))) - size }

// withoutZeros returns an integer without its leading zeros.
func withoutZeros(bigEndian []byte) []byte { return bytes.TrimLeft(bigEndian, "\x00") }
