package rlp

import (
	"strings"
	"testing"
)

// TestDepth walks as deep as lists are nested in a transaction, and one deeper, and
// checks the path of a fault: the recipients in a rule in a scope's rules in the scopes
// of a Tempo key authorization are seven deep.
func TestDepth(t *testing.T) {
	const maxDepth = 8
	raw := []byte{0x00}
	for range maxDepth + 1 {
		raw = append(AppendListHeader(nil, len(raw)), raw...)
	}
	walks := []Fields{Open("chain", raw, 0)}
	for range maxDepth {
		walks = append(walks, walks[len(walks)-1].List("list"))
	}
	walks[maxDepth].Uint64("number")
	want := "chain: field 1 (list)" + strings.Repeat(", item 1 (list)", maxDepth-1) + ", item 1 (number) at byte 9: integer has a leading zero"
	for depth := maxDepth; depth > 0; depth-- {
		walks[depth-1].Join(&walks[depth])
	}
	if err := walks[0].Close(); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

// TestSkipEmptyList skips c0 only, and counts it as an item.
func TestSkipEmptyList(t *testing.T) {
	f := Open("chain", []byte{0xc4, 0xc0, 0x80, 0xc1, 0x01}, 0)
	if !f.SkipEmptyList() || f.SkipEmptyList() {
		t.Error("the first item is an empty list, the second is not")
	}
	f.String("second")
	if f.SkipEmptyList() {
		t.Error("the third item is not empty")
	}
	f.String("third")
	want := "chain: field 3 (third) at byte 3: a list where a string should be"
	if err := f.Close(); err == nil || err.Error() != want || f.SkipEmptyList() {
		t.Errorf("%v, want %s", err, want)
	}
}
