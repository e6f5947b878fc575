package tape_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/internal/testkit/tape"
)

func TestTape(t *testing.T) {
	source := []byte{7, 9, 1, 2, 3, 2, 0x01, 0x02, 5}
	kept := bytes.Clone(source)
	read := tape.New(source)
	if got := read.Intn(4); got != 3 {
		t.Errorf("Intn(4) of 7 is %d, want 3", got)
	}
	if got := tape.Pick(read, "a", "b"); got != "b" {
		t.Errorf("Pick of two by 9 is %q, want b", got)
	}
	if got := read.Bytes(2); !bytes.Equal(got, []byte{1, 2}) {
		t.Errorf("Bytes are %x, want 0102", got)
	}
	if !read.Bool() {
		t.Error("Bool of 3 is false")
	}
	if got := read.Uint64(); got != 0x0102 {
		t.Errorf("Uint64 is %#x, want 0x0102", got)
	}
	if !read.OneIn(6) || read.More() {
		t.Error("OneIn(6) of 5 is false, or something is left")
	}
	if !bytes.Equal(source, kept) {
		t.Error("the bytes were modified")
	}
}

func TestExhausted(t *testing.T) {
	var read tape.Tape
	if read.More() || read.Byte() != 0 || read.Bool() || read.OneIn(3) || read.Uint64() != 0 {
		t.Error("an exhausted tape does not yield the first choice")
	}
	if got := read.Bytes(3); !bytes.Equal(got, make([]byte, 3)) {
		t.Errorf("Bytes are %x, want zeros", got)
	}
	if got := tape.New([]byte{1, 0}).Intn(1000); got != 256 {
		t.Errorf("Intn(1000) of 0100 is %d, want 256", got)
	}
}
