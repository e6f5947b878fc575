//go:build unix && !aix

package file

import (
	"errors"

	"golang.org/x/sys/unix"
)

func tryLock(file openFile) (held bool, err error) {
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}
