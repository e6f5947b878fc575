//go:build unix && !aix

package logs

import (
	"os"

	"golang.org/x/sys/unix"
)

// TryFlock locks a file exclusively, or fails at once. The lock ends with the process.
func TryFlock(file *os.File) error {
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
