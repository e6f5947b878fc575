//go:build unix

package console

import (
	"os"
	"syscall"
)

// duplicate returns a duplicate of the open file with a number. Errors name its path.
func duplicate(number int, path string) (*os.File, error) {
	copied, err := syscall.Dup(number)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	syscall.CloseOnExec(copied)
	return os.NewFile(uintptr(copied), path), nil
}
