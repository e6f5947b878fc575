//go:build linux && (amd64 || arm64)

package chaintest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Untouched returns zero bytes that take no memory while they are not read, to test lengths
// that no machine has the memory for. They must not be written to.
func Untouched(t testing.TB, size int) []byte {
	t.Helper()
	bytes, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(bytes) })
	return bytes
}
