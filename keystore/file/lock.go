package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/keystore"
)

const lockName = "lock"

// lockPoll is how often a waiting writer tries to take the lock.
const lockPoll = 2 * time.Millisecond

// lock takes the lock of the directory, which excludes other processes and other Stores
// of this process. The lock is released when its process ends.
//
// A writer may have to wait for many others. lock returns ErrLocked if no holder shows
// progress for as long as wait, and the context's error if the context ends first.
// before is the modification time of the lock file that the previous writer left.
func lock(ctx context.Context, root directory, wait time.Duration) (unlock func(), before time.Time, err error) {
	file, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil { // a read-only directory is enough, because flock does not need write permission
		var readErr error
		if file, readErr = root.OpenFile(lockName, os.O_RDONLY, 0); readErr != nil {
			return nil, before, err
		}
	}
	var lastProgress time.Time
	for deadline := time.Now().Add(wait); ; time.Sleep(lockPoll) {
		locked, err := trust.TryLock(file)
		if locked {
			if info, err := file.Stat(); err == nil {
				before = info.ModTime()
			}
			showProgress(root)
			return func() { _ = file.Close() }, before, nil
		}
		if info, err := file.Stat(); err == nil && !info.ModTime().Equal(lastProgress) && wait > 0 {
			lastProgress, deadline = info.ModTime(), time.Now().Add(wait)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && time.Now().After(deadline) {
			err = fmt.Errorf("%w, which has made no progress for %v", ErrLocked, wait)
		}
		if err != nil {
			return nil, before, errors.Join(err, file.Close())
		}
	}
}

// showProgress updates the time of the lock file, from which waiting writers see that the
// holder makes progress. Failure is harmless and ignored.
func showProgress(root directory) {
	now := time.Now()
	_ = root.Chtimes(lockName, now, now)
}

// asWriter calls write while holding s.mu and the lock, after taking in what other
// writers have changed and added.
func (s *Store) asWriter(ctx context.Context, write func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	if err := s.checkOwner(); err != nil {
		return err
	}
	// Reading before the lock is taken leaves little to read while holding it.
	if err := s.takeInAll(ctx, s.lastTurn.directory); err != nil {
		return err
	}
	unlock, before, err := lock(ctx, s.root, s.options.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	var since time.Time
	if before.Equal(s.lastTurn.lock) {
		since = s.lastTurn.directory
	}
	s.lastTurn, s.missed = turn{}, false
	if err := s.takeInAll(ctx, since); err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	s.lastTurn = s.endTurn()
	return nil
}

// endTurn returns the zero turn if files have to be read again, or if the file system rounds times,
// so that this turn could not be distinguished from the next. The caller holds the lock.
func (s *Store) endTurn() turn {
	ended := turn{lock: time.Now().Round(0)}
	if s.missed || len(s.bad) > 0 || s.root.Chtimes(lockName, ended.lock, ended.lock) != nil {
		return turn{}
	}
	info, err := s.root.Lstat(lockName)
	if err != nil || !info.ModTime().Equal(ended.lock) {
		return turn{}
	}
	if info, err = s.keysRoot.Stat(); err != nil {
		return turn{}
	}
	ended.directory = info.ModTime()
	return ended
}

// takeInAll is takeIn for a writer. It also returns an error if a key file cannot be read,
// because that file may hold the very key to be added. It reads nothing if the directory
// still has the modification time since, unless that is zero. The caller holds s.mu.
func (c *contents) takeInAll(ctx context.Context, since time.Time) error {
	if err := c.follow(ctx); err != nil {
		return err
	}
	if !since.IsZero() {
		info, err := c.keysRoot.Stat()
		if err != nil || info.ModTime().Equal(since) {
			return err
		}
	}
	if err := c.takeIn(ctx); err != nil {
		return err
	}
	return c.unread()
}
