//go:build linux && (amd64 || arm64)

package roadtest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Untouched returns zero bytes that are asked for and not used, so that a length can
// be tested that no machine has the memory for. They cannot be written to.
func Untouched(t testing.TB, size int) []byte {
	t.Helper()
	bytes, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(bytes) })
	return bytes
}
