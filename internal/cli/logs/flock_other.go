//go:build !unix || aix

package logs

import (
	"errors"
	"fmt"
	"os"
)

func TryFlock(*os.File) error {
	return fmt.Errorf("this system has no flock(2): %w", errors.ErrUnsupported)
}
