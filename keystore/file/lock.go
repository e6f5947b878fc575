package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/countersign-dev/countersign/keystore"
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

// asWriter calls do when it is our turn among the writers, and what the others
// have added is taken in. s.mu is held.
func (s *Store) asWriter(ctx context.Context, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	if err := s.checkOwner(); err != nil {
		return err
	}
	// What others have added before now is read before our turn begins, which
	// leaves little to read in it.
	if err := s.takeInAll(ctx, s.wrote.directory); err != nil {
		return err
	}
	unlock, before, err := lock(ctx, s.root, s.options.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	var since time.Time
	if before.Equal(s.wrote.lock) {
		since = s.wrote.directory
	}
	s.wrote, s.missed = turn{}, false
	if err := s.takeInAll(ctx, since); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	s.wrote = s.endTurn()
	return nil
}

// turn is what a writer leaves behind: the time of the lock file, which every writer sets
// to its clock, and that of the directory of keys. If the next turn finds both, no other
// writer had one meanwhile, and there is nothing to read: adding n keys, one after the
// other, lists the directory once and not n times.
type turn struct{ lock, directory time.Time }

// endTurn returns the zero turn if there are files to be read again, or if the file system
// rounds times, so that this turn could not be told from the next. The lock is held.
func (s *Store) endTurn() turn {
	ended := turn{lock: time.Now().Round(0)}
	if s.missed || len(s.bad) > 0 || s.root.Chtimes(lockName, ended.lock, ended.lock) != nil {
		return turn{}
	}
	info, err := s.root.Lstat(lockName)
	if err != nil || !info.ModTime().Equal(ended.lock) {
		return turn{}
	}
	if info, err = s.keysRoot.Lstat("."); err != nil {
		return turn{}
	}
	ended.directory = info.ModTime()
	return ended
}

// takeInAll is takeIn for who is about to write: a file that could not be read
// may hold the very key. It is not needed if the directory has still the time since, unless
// that is zero. s.mu is held.
func (s *Store) takeInAll(ctx context.Context, since time.Time) error {
	if err := s.follow(ctx); err != nil {
		return err
	}
	if !since.IsZero() {
		info, err := s.keysRoot.Lstat(".")
		if err != nil || info.ModTime().Equal(since) {
			return err
		}
	}
	if err := s.takeIn(ctx); err != nil {
		return err
	}
	return s.unread()
}
