package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

const lockName = "lock"

// lockPoll is how often a writer looks whether its turn has come.
const lockPoll = 2 * time.Millisecond

// lock waits until no other writer has the directory. It excludes other
// processes and other Stores of this one. The lock goes with the process that
// holds it.
//
// Writers that take turns may have to wait for many of them. But if none shows
// progress for as long as wait, it returns ErrLocked; if the context ends first, its
// error. before is the time of the lock file that the last writer has left.
func lock(ctx context.Context, root directory, wait time.Duration) (unlock func(), before time.Time, err error) {
	file, err := openLock(root)
	if err != nil {
		return nil, before, err
	}
	var seen time.Time
	for deadline := time.Now().Add(wait); ; time.Sleep(lockPoll) {
		held, err := tryLock(file)
		if held {
			if info, err := file.Stat(); err == nil {
				before = info.ModTime()
			}
			showProgress(root)
			return func() { _ = file.Close() }, before, nil
		}
		if info, err := file.Stat(); err == nil && !info.ModTime().Equal(seen) && wait > 0 {
			seen, deadline = info.ModTime(), time.Now().Add(wait)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && time.Now().After(deadline) {
			err = fmt.Errorf("%w, which has kept others from writing for %v", ErrLocked, wait)
		}
		if err != nil {
			return nil, before, errors.Join(err, file.Close())
		}
	}
}

// showProgress tells those who wait for the lock that its holder gets on, by the
// time of the lock file. Failure is harmless and ignored.
func showProgress(root directory) {
	now := time.Now()
	_ = root.Chtimes(lockName, now, now)
}

// openLock opens the lock file, on a directory that cannot be written to as
// well: flock needs no right to write.
func openLock(root directory) (openFile, error) {
	file, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, fileMode)
	if err == nil {
		return file, nil
	}
	if file, readErr := root.OpenFile(lockName, os.O_RDONLY, 0); readErr == nil {
		return file, nil
	}
	return nil, err
}
