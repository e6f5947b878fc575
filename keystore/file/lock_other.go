//go:build !unix || aix

package file

import (
	"errors"
	"fmt"
)

func tryLock(openFile) (held bool, err error) {
	return false, fmt.Errorf("file keystore: writing needs flock(2): %w", errors.ErrUnsupported)
}
