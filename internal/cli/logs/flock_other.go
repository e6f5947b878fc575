//go:build !unix || aix

package logs

import (
	"errors"
	"fmt"
	"os"
)

// TryFlock does nothing where the system has no flock.
func TryFlock(*os.File) error {
	return fmt.Errorf("this system has no flock(2): %w", errors.ErrUnsupported)
}
