//go:build unix && !aix && !solaris

package bolt

import (
	"os"

	"golang.org/x/sys/unix"
)

// unlock ends bbolt's lock of a file, which its mapping would keep.
func unlock(file *os.File) { _ = unix.Flock(int(file.Fd()), unix.LOCK_UN) }
