//go:build !unix || aix

package file

import (
	"errors"
	"fmt"
	"os"
)

func tryLock(*os.File) (held bool, err error) {
	return false, fmt.Errorf("file keystore: writing needs flock(2): %w", errors.ErrUnsupported)
}
