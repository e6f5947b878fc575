//go:build !unix

package console

import "os"

// duplicate opens the path: paths that name open files exist on Unix only.
func duplicate(_ int, path string) (*os.File, error) { return os.Open(path) }
