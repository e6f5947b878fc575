//go:build !unix || aix

package trust

import (
	"errors"
	"fmt"
)

// TryLock fails where the system has no flock.
func TryLock(interface{ Fd() uintptr }) (held bool, err error) {
	return false, fmt.Errorf("this system has no flock(2): %w", errors.ErrUnsupported)
}
