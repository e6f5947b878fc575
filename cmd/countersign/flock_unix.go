//go:build unix && !aix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryFlock takes the lock of a file, which goes with its process.
func tryFlock(file *os.File) error {
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
