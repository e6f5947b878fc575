package rlp

import (
	"bytes"
	"errors"
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

// Items returns the items of a list, headers included. They are views of the list.
func Items(list []byte) (items [][]byte, err error) {
	content, rest, err := rlp.SplitList(list)
	if err != nil || len(rest) > 0 {
		return nil, errors.Join(err, errors.New("not one RLP list"))
	}
	for len(content) > 0 {
		_, _, after, err := rlp.Split(content)
		if err != nil {
			return nil, err
		}
		items = append(items, content[:len(content)-len(after)])
		content = after
	}
	return items, nil
}

// AppendList appends the list of items, which have their headers.
func AppendList(out []byte, items ...[]byte) []byte {
	size := 0
	for _, item := range items {
		size += len(item)
	}
	out = AppendListHeader(out, size)
	for _, item := range items {
		out = append(out, item...)
	}
	return out
}
