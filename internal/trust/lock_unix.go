//go:build unix && !aix

package trust

import (
	"errors"

	"golang.org/x/sys/unix"
)

// TryLock locks an open file exclusively, unless another process holds it. The lock ends with
// the process.
func TryLock(file interface{ Fd() uintptr }) (held bool, err error) {
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}
