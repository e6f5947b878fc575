//go:build linux

package hexwords

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestOddNumber: nothing is written where the digits do not come out even, least of
// all behind the end.
func TestOddNumber(t *testing.T) {
	from, to := guarded(t), guarded(t)
	fill(from, '7')
	for length := 1; length <= 4*blockDigits; length += 2 {
		text := unsafe.String(unsafe.SliceData(from), length)
		if Decode(to[len(to)-length/2:], text) {
			t.Errorf("%d digits were taken", length)
		}
	}
}

// TestBounds reads from and writes to memory between two pages that must not be
// touched: one byte too far would end the process.
func TestBounds(t *testing.T) {
	from, to := guarded(t), guarded(t)
	for length := 2; length <= 4*blockDigits; length += 2 {
		for _, digits := range [][]byte{from[:length], from[len(from)-length:]} {
			fill(digits, '7')
			text := unsafe.String(unsafe.SliceData(digits), length)
			for _, out := range [][]byte{to[:length/2], to[len(to)-length/2:]} {
				if !Decode(out, text) || length >= wordDigits && !decodeWords(out, text) {
					t.Fatalf("%d digits: refused", length)
				}
			}
		}
	}
	for length := 1; length <= 4*blockBytes; length++ {
		for _, raw := range [][]byte{from[:length], from[len(from)-length:]} {
			for _, start := range []int{0, len(to) - 2*length} {
				out := to[start : start : start+2*length]
				if wrote := Append(out, raw); &wrote[0] != &to[start] {
					t.Fatalf("%d bytes: written elsewhere, though there was room", length)
				}
				if length >= wordBytes {
					appendWords(out, raw)
				}
			}
		}
	}
}

func fill(out []byte, with byte) {
	for i := range out {
		out[i] = with
	}
}

// guarded returns a page of memory between two that cannot be read or written.
func guarded(t *testing.T) []byte {
	t.Helper()
	size := os.Getpagesize()
	pages, err := unix.Mmap(-1, 0, 3*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(pages); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{pages[:size], pages[2*size:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return pages[size : 2*size : 2*size]
}
