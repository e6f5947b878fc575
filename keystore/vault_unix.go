//go:build unix

package keystore

import "golang.org/x/sys/unix"

// lockedPages returns zeroed pages outside the Go heap. A failure to lock them is ignored: the
// limit (ulimit -l) is often small, and a signer with swappable pages is better than one that
// does not run.
func lockedPages(size int) []byte {
	pages, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return make([]byte, size)
	}
	_ = unix.Mlock(pages)
	keepOutOfCoreDumps(pages)
	return pages
}
