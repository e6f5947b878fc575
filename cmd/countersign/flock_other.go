//go:build !unix || aix

package main

import (
	"errors"
	"fmt"
	"os"
)

func tryFlock(*os.File) error {
	return fmt.Errorf("flock(2) is needed: %w", errors.ErrUnsupported)
}
