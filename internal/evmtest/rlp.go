// Package evmtest has what the tests of ethereum and tempo share: transactions written as
// RLP in hex, the vectors of testdata, and a key that signs with a given signature.
package evmtest

import (
	"encoding/hex"
	"slices"
	"strings"
)

// List returns the RLP list of items, which are RLP in hex.
func List(items ...string) string {
	content := strings.Join(items, "")
	return header(0xc0, len(content)/2) + content
}

// Str returns the RLP string of bytes in hex, of which there must be at least two.
func Str(content string) string { return header(0x80, len(content)/2) + content }

func header(kind byte, size int) string {
	if size < 56 {
		return hex.EncodeToString([]byte{kind + byte(size)})
	}
	var digits []byte
	for ; size > 0; size >>= 8 {
		digits = append([]byte{byte(size)}, digits...)
	}
	return hex.EncodeToString(append([]byte{kind + 55 + byte(len(digits))}, digits...))
}

// With returns a copy of items with the one at number, counted from 1, replaced.
func With(items []string, number int, item string) []string {
	items = slices.Clone(items)
	items[number-1] = item
	return items
}
