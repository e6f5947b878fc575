//go:build linux && (amd64 || arm64)

package tron

import (
	"math"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOverTwoGiB: places in a longer transaction would not fit into a value,
// whatever the limits allow. The memory is asked for and not used.
func TestOverTwoGiB(t *testing.T) {
	raw, err := unix.Mmap(-1, 0, 1<<31, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(raw) }()
	_, err = New(Limits{MaxSize: math.MaxInt}).Parse(raw)
	if want := "tron: 2147483648 bytes, the network takes 2147483647"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
