package rlp_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	gethrlp "github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/rlp"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestOpen reads the outermost list.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		raw  string
		at   int
		want string // the error; empty: none
	}{
		{"c0", 0, ""},
		{"02c0", 1, ""},
		{"c20102", 0, ""},
		{"f838" + strings.Repeat("01", 56), 0, ""},
		{"", 0, "test: at byte 0: the list of fields is missing"},
		{"02", 1, "test: at byte 1: the list of fields is missing"},
		{"80", 0, "test: at byte 0: a string where the list of fields should be"},
		{"0201", 1, "test: at byte 1: a string where the list of fields should be"},
		{"c1", 0, "test: at byte 0: the length reaches past the end: cut off, or a byte is wrong"},
		{"c0c0", 0, "test: at byte 1: 1 byte trailing after the list of fields"},
		{"c101c1c0", 0, "test: at byte 2: 2 bytes trailing after the list of fields"},
		{"f837" + strings.Repeat("01", 55), 0, "test: at byte 0: the length is not in its shortest form"},
		{"f90038" + strings.Repeat("01", 56), 0, "test: at byte 0: the length is not in its shortest form"},
		{"f8", 0, "test: at byte 0: the length reaches past the end: cut off, or a byte is wrong"},
		{"ffffffffffffffffff", 0, "test: at byte 0: the length reaches past the end: cut off, or a byte is wrong"},
		{"ff8000000000000000", 0, "test: at byte 0: the length reaches past the end: cut off, or a byte is wrong"},
	} {
		f := rlp.Open("test", testenv.Hex(t, c.raw), c.at)
		checkFault(t, c.raw, f.Err(), c.want)
	}
}

func checkFault(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	if _, ok := errors.AsType[*chains.ParseError](err); !ok || err.Error() != want || !errors.Is(err, chains.ErrMalformed) {
		t.Errorf("%s\n got %v\nwant %s", name, err, want)
	}
}

// readers reads one field each.
var readers = map[string]func(f *rlp.Fields, raw []byte) any{
	"string":   func(f *rlp.Fields, _ []byte) any { return f.String("x").Len() },
	"bytes4":   func(f *rlp.Fields, _ []byte) any { return hex.EncodeToString(f.Bytes("x", 4)) },
	"address":  func(f *rlp.Fields, _ []byte) any { a := f.Address("x"); return hex.EncodeToString(a[:]) },
	"optional": func(f *rlp.Fields, _ []byte) any { _, present := f.OptionalAddress("x"); return present },
	"uint8":    func(f *rlp.Fields, _ []byte) any { return uint64(f.Uint8("x")) },
	"uint64":   func(f *rlp.Fields, _ []byte) any { return f.Uint64("x") },
	"uint256":  func(f *rlp.Fields, raw []byte) any { v := f.Uint256("x").Uint256(raw); return v.Hex() },
	"list": func(f *rlp.Fields, _ []byte) any {
		inner := f.List("x")
		count := inner.Count()
		for inner.More() {
			inner.Item("y")
		}
		f.Join(&inner)
		return count
	},
}

const field = "test: field 1 (x) at byte 1: "

// TestFields reads single fields, and compares the value or the error.
func TestFields(t *testing.T) {
	twenty := strings.Repeat("11", 20)
	for _, c := range []struct {
		reader, item string
		want         any
		fault        string
	}{
		{"string", "80", 0, ""},
		{"string", "00", 1, ""},
		{"string", "7f", 1, ""},
		{"string", "8180", 1, ""},
		{"string", "b838" + strings.Repeat("01", 56), 56, ""},
		{"string", "c0", nil, field + "a list where a string should be"},
		{"string", "8100", nil, field + "the length is not in its shortest form"},
		{"string", "817f", nil, field + "the length is not in its shortest form"},
		{"string", "b801ff", nil, field + "the length is not in its shortest form"},
		{"string", "82ff", nil, field + "the length reaches past the end: cut off, or a byte is wrong"},
		{"string", "b8", nil, field + "the length reaches past the end: cut off, or a byte is wrong"},
		{"string", "bfffffffffffffffff", nil, field + "the length reaches past the end: cut off, or a byte is wrong"},
		{"string", "", nil, field + "missing"},

		{"bytes4", "84deadbeef", "deadbeef", ""},
		{"bytes4", "83deadbe", nil, field + "3 bytes, want 4"},
		{"bytes4", "01", nil, field + "1 byte, want 4"},
		{"bytes4", "80", nil, field + "0 bytes, want 4"},
		{"address", "94" + twenty, twenty, ""},
		{"address", "80", nil, field + "0 bytes, want 20"},
		{"optional", "94" + twenty, true, ""},
		{"optional", "80", false, ""},
		{"optional", "00", nil, field + "1 byte, want 20 or none"},
		{"optional", "95" + twenty + "11", nil, field + "21 bytes, want 20 or none"},

		{"uint8", "80", uint64(0), ""},
		{"uint8", "81ff", uint64(255), ""},
		{"uint8", "820100", nil, field + "integer of 16 bits is over 8"},
		{"uint64", "80", uint64(0), ""},
		{"uint64", "01", uint64(1), ""},
		{"uint64", "8180", uint64(128), ""},
		{"uint64", "88ffffffffffffffff", uint64(math.MaxUint64), ""},
		{"uint64", "00", nil, field + "integer has a leading zero"},
		{"uint64", "820001", nil, field + "integer has a leading zero"},
		{"uint64", "8800ffffffffffffff", nil, field + "integer has a leading zero"},
		{"uint64", "890100000000000000ff", nil, field + "integer of 72 bits is over 64"},
		{"uint64", "c0", nil, field + "a list where a string should be"},
		{"uint256", "80", "0x0", ""},
		{"uint256", "a0" + strings.Repeat("ff", 32), "0x" + strings.Repeat("ff", 32), ""},
		{"uint256", "a1" + strings.Repeat("ff", 33), nil, field + "integer of 264 bits is over 256"},

		{"list", "c0", 0, ""},
		{"list", "c3010203", 3, ""},
		{"list", "c2c0c0", 2, ""},
		{"list", "80", nil, field + "a string where a list should be"},
		{"list", "c20182", nil, "test: field 1 (x), item 2 (y) at byte 3: the length reaches past the end: cut off, or a byte is wrong"},
		{"list", "c3018100", nil, "test: field 1 (x), item 2 (y) at byte 3: the length is not in its shortest form"},
	} {
		item := testenv.Hex(t, c.item)
		raw := append(rlp.AppendListHeader(nil, len(item)), item...)
		f := rlp.Open("test", raw, 0)
		if len(item) > 55 { // the list header is longer: offsets move
			c.fault = strings.Replace(c.fault, "byte 1:", "byte 2:", 1)
		}
		got := readers[c.reader](&f, raw)
		name := c.reader + " " + c.item
		checkFault(t, name, f.Close(), c.fault)
		if c.fault == "" && got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestRaw reads items with their headers, and peeks without reading.
func TestRaw(t *testing.T) {
	f := rlp.Open("test", testenv.Hex(t, "c780c1018201ff05"), 0)
	for _, c := range []struct {
		item          string
		empty, isList bool
	}{{"80", true, false}, {"c101", false, true}, {"8201ff", false, false}, {"05", false, false}} {
		if f.NextIsEmpty() != c.empty || f.NextIsList() != c.isList {
			t.Errorf("before %s: empty %v, list %v", c.item, f.NextIsEmpty(), f.NextIsList())
		}
		if got := hex.EncodeToString(f.Raw("x")); got != c.item {
			t.Errorf("%s, want %s", got, c.item)
		}
	}
	if f.NextIsEmpty() || f.NextIsList() || f.Raw("x") != nil {
		t.Error("there is something behind the end")
	}
	checkFault(t, "end", f.Close(), "test: field 5 (x) at byte 8: missing")
}

// TestFirstFaultStays checks that nothing is read after a fault, and that the first
// fault is kept.
func TestFirstFaultStays(t *testing.T) {
	f := rlp.Open("test", testenv.Hex(t, "c5000100c101"), 0)
	const want = "test: field 1 (one) at byte 1: integer has a leading zero"
	f.Uint64("one")
	at := f.At()
	if value := f.Uint64("two"); value != 0 {
		t.Errorf("read %d after a fault", value)
	}
	inner := f.List("three")
	if inner.More() || f.More() || f.NextIsList() || f.Count() != -1 || inner.Count() != -1 {
		t.Error("there is more to read after a fault")
	}
	f.Join(&inner)
	f.Fail("four", 99, "another fault")
	checkFault(t, "fault", f.Close(), want)
	if f.At() != at {
		t.Error("the walk went on after a fault")
	}
}

// TestLeftOver checks that all items of a list must be read, including those of inner
// lists.
func TestLeftOver(t *testing.T) {
	f := rlp.Open("test", testenv.Hex(t, "c30102c0"), 0)
	f.Uint64("one")
	checkFault(t, "outer", f.Close(), "test: at byte 2: 2 bytes left over after item 1")

	f = rlp.Open("test", testenv.Hex(t, "c4c3010203"), 0)
	inner := f.List("lists")
	inner.Uint64("one")
	f.Join(&inner)
	checkFault(t, "inner", f.Close(), "test: field 1 (lists) at byte 3: 2 bytes left over after item 1")
}

// TestAppend compares what a signature adds with go-ethereum's encoder.
func TestAppend(t *testing.T) {
	for _, size := range []int{0, 1, 55, 56, 255, 256, 65535, 65536, 1 << 24} {
		content := make([]byte, size)
		got := append(rlp.AppendListHeader(nil, size), content...)
		list, rest, err := gethrlp.SplitList(got)
		if err != nil || len(rest) != 0 || len(list) != size {
			t.Errorf("list of %d bytes: header %x: %v", size, got[:min(len(got), 9)], err)
		}
		if header := len(got) - size; header != rlp.ListHeaderSize(size) || header > rlp.MaxListHeader {
			t.Errorf("list of %d bytes: header of %d, ListHeaderSize says %d", size, header, rlp.ListHeaderSize(size))
		}
	}
	for shift := range 65 {
		for _, value := range []uint64{1<<shift - 1, 1 << shift} {
			want, err := gethrlp.EncodeToBytes(value)
			if got := rlp.AppendUint([]byte{9}, value); err != nil || !bytes.Equal(got[1:], want) || rlp.UintSize(value) != len(want) {
				t.Errorf("%d: %x, want %x", value, got[1:], want)
			}
		}
	}
	for bits := range 257 {
		value := new(big.Int).Lsh(big.NewInt(1), uint(bits))
		checkScalar(t, value.Sub(value, big.NewInt(1)))
	}
	for _, value := range []int64{0, 1, 0x7f, 0x80, 0xff, 0x100} {
		checkScalar(t, big.NewInt(value))
	}
}

func checkScalar(t *testing.T, value *big.Int) {
	t.Helper()
	padded := value.FillBytes(make([]byte, 32))
	want, err := gethrlp.EncodeToBytes(value)
	if got := rlp.AppendScalar(nil, padded); err != nil || !bytes.Equal(got, want) || rlp.ScalarSize(padded) != len(want) {
		t.Errorf("%x: %x, want %x", padded, got, want)
	}
}
