package file

import (
	"errors"
	"fmt"
	"os"
	"time"
)

const lockName = "lock"

// lockPoll is how often a writer looks whether its turn has come.
const lockPoll = 2 * time.Millisecond

// lock waits until nobody else writes into the directory, for at most wait. It
// excludes other processes and other Stores of this one. The lock goes with the
// process that holds it.
func lock(root *os.Root, wait time.Duration) (unlock func(), err error) {
	file, err := openLock(root)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(lockPoll) {
		held, err := tryLock(file)
		if held {
			return func() { _ = file.Close() }, nil
		}
		if err == nil && time.Now().After(deadline) {
			err = fmt.Errorf("%w: it did not end writing within %v", ErrLocked, wait)
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
}

// openLock opens the lock file, on a directory that cannot be written to as
// well: flock needs no right to write.
func openLock(root *os.Root) (*os.File, error) {
	file, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, fileMode)
	if err == nil {
		return file, nil
	}
	if file, readErr := root.Open(lockName); readErr == nil {
		return file, nil
	}
	return nil, err
}
