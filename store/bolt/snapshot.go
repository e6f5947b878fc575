package bolt

import (
	"errors"
	"math/bits"
	"os"
	"runtime"
	"syscall"

	"go.etcd.io/bbolt"
)

// Bounds of the address space that a file is mapped into, in bytes. It takes no memory.
const (
	leastMapping = 1 << (20 + bits.UintSize/4)       // 64 GiB, or 256 MiB where an address has 32 bits
	mostMapping  = 1 << (30 + 14*(bits.UintSize/64)) // 16 TiB, or 1 GiB
)

// mapping returns the address space for a file of some bytes. A writer that outgrows it has to
// wait for all readers, so that a snapshot would stop every writer: none does until the file is
// four times as large as when it was opened. On Windows, bbolt makes the file as long as the
// mapping, which therefore starts small.
func mapping(system string, size int64) int {
	if system == "windows" {
		return 0
	}
	return int(min(max(leastMapping, 4*size), mostMapping))
}

// openMapped opens a file with the largest mapping that the system grants.
func openMapped(path string, options bbolt.Options) (*file, error) {
	var size int64
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	for options.InitialMmapSize = mapping(runtime.GOOS, size); ; options.InitialMmapSize /= 2 {
		opened, err := openFile(path, options)
		if !errors.Is(err, syscall.ENOMEM) || int64(options.InitialMmapSize) <= size {
			return opened, err
		}
	}
}
