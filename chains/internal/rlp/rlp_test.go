package rlp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/rlp"
)

// TestAppend holds what is written against go-ethereum's encoder.
func TestAppend(t *testing.T) {
	for _, value := range []uint64{0, 1, 0x7f, 0x80, 0xff, 0x100, 1<<56 - 1, 1<<64 - 1} {
		want, err := rlp.EncodeToBytes(value)
		if got := AppendUint(nil, value); err != nil || !bytes.Equal(got, want) || UintSize(value) != len(want) {
			t.Errorf("%d: %x of %d bytes, want %x (%v)", value, got, UintSize(value), want, err)
		}
	}
	for _, scalar := range [][]byte{nil, {0, 0}, {0, 0x7f}, {0x80}, {0, 1, 0}, bytes.Repeat([]byte{0xff}, 32)} {
		want, err := rlp.EncodeToBytes(bytes.TrimLeft(scalar, "\x00"))
		if got := AppendScalar(nil, scalar); err != nil || !bytes.Equal(got, want) || ScalarSize(scalar) != len(want) {
			t.Errorf("%x: %x of %d bytes, want %x (%v)", scalar, got, ScalarSize(scalar), want, err)
		}
	}
	for _, size := range []int{0, 1, 55, 56, 255, 256, 1 << 16, 1 << 24} {
		want, err := rlp.EncodeToBytes([]rlp.RawValue{make([]byte, size)})
		want = want[:len(want)-size]
		if got := AppendListHeader(nil, size); err != nil || !bytes.Equal(got, want) || ListHeaderSize(size) != len(want) {
			t.Errorf("%d: %x of %d bytes, want %x (%v)", size, got, ListHeaderSize(size), want, err)
		}
	}
}

// TestDepth walks as deep as there is room for, and names where it stands.
func TestDepth(t *testing.T) {
	raw := []byte{0x00}
	for range maxDepth + 1 {
		raw = append(AppendListHeader(nil, len(raw)), raw...)
	}
	walks := []Fields{Open("chain", raw, 0)}
	for range maxDepth {
		walks = append(walks, walks[len(walks)-1].List("list"))
	}
	innermost := &walks[maxDepth]
	innermost.Uint64("number")
	want := "chain: field 1 (list)" + strings.Repeat(", item 1 (list)", maxDepth-1) + ", item 1 (number) at byte 9: integer has a leading zero"
	if err := innermost.Err(); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	for depth := maxDepth; depth > 0; depth-- {
		walks[depth-1].Join(&walks[depth])
	}
	if err := walks[0].Close(); err == nil || err.Error() != want {
		t.Errorf("joined\n got %v\nwant %s", err, want)
	}
}

// TestSkipEmptyList reads over c0 only, and counts it as an item.
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
