//go:build linux && (amd64 || arm64)

package rlp_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/chains/internal/rlp"
)

// TestOverTwoGiB: places in a longer transaction would not fit into a Span. The
// memory is asked for and not used.
func TestOverTwoGiB(t *testing.T) {
	raw, err := unix.Mmap(-1, 0, 1<<31, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(raw) }()
	f := rlp.Open("test", raw, 0)
	checkFault(t, "2 GiB", f.Err(), "test: at byte 0: over 2 GiB")
	f = rlp.Open("test", raw[1:], 0)
	checkFault(t, "a byte less", f.Err(), "test: at byte 0: a string where the list of fields should be")
}
