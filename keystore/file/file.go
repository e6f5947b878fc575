package file

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Where to find what, from the ground up: disk.go is the file system, which tests replace. The formats
// are in identity.go, metadata.go, keyfile.go, wallet_file.go and registered_file.go. folder.go is the
// directory, known.go what was read from it; load.go reads key files, and changes.go follows other
// processes. This file has look-ups. lock.go takes turns among writers, which are add.go, life.go
// (rename, disable), remove.go (delete, archive, restore), wallet.go, registered.go and discover.go.

// Store is a keystore.Keystore over a directory. Create and Open return one.
type Store struct {
	contents

	// mu is held while writing, and while taking in what other processes have written.
	mu       sync.Mutex
	closed   bool
	lastTurn turn // what this Store left behind as a writer
}

var (
	_ keystore.Keystore  = (*Store)(nil)
	_ keystore.Skipper   = (*Store)(nil)
	_ keystore.Refresher = (*Store)(nil)
	_ keystore.Generator = (*Store)(nil)
	_ keystore.Importer  = (*Store)(nil)
	_ keystore.Exporter  = (*Store)(nil)
)

func newStore(on disk, dir string, options Options) *Store {
	s := &Store{contents: contents{
		folder:   newFolder(on, dir, options),
		owners:   map[string]string{},
		wallets:  map[string]*knownWallet{},
		accounts: map[string]string{},
		bad:      map[string]badFile{},
		names:    map[string]named{},
	}}
	s.followed.Store(&version{})
	return s
}

// Find implements keystore.Keystore. If it does not know the key, it first takes in the
// files that other processes have added.
func (s *Store) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	if err := s.followChanges(ctx); err != nil {
		return nil, err
	}
	key, err := s.index.Find(ctx, organizationID, locator)
	if !errors.Is(err, keystore.ErrKeyNotFound) {
		return key, err
	}
	if err := s.takeInNew(ctx); err != nil {
		return nil, err
	}
	if key, err = s.index.Find(ctx, organizationID, locator); err == nil {
		return key, nil
	}
	// The operator learns of a disabled key: the caller cannot tell it from one that does not exist.
	s.mu.Lock()
	info, disabled := s.parked.find(organizationID, locator)
	s.mu.Unlock()
	switch {
	case !disabled:
	case s.options.OnDisabled != nil:
		s.options.OnDisabled(info)
	default:
		s.options.Logger.Warn("disabled key requested", "organization", organizationID, "key", info.ID, "name", info.Name)
	}
	return nil, err
}

// Keys implements keystore.Keystore. When the iteration starts, it takes in the files
// that other processes have added.
func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		if err := s.Refresh(ctx); err != nil {
			yield(keystore.KeyInfo{}, err)
			return
		}
		s.index.Keys(ctx, organizationID)(yield)
	}
}

func (s *Store) RevealSecret(ctx context.Context, organizationID, id string, use func(secret []byte) error) error {
	if _, err := s.Find(ctx, organizationID, keystore.ByID(id)); err != nil {
		return err
	}
	key, err := s.index.Key(ctx, organizationID, keystore.ByID(id))
	if err != nil {
		return err
	}
	return key.RevealSecret(use)
}

// Skipped implements keystore.Skipper: it returns a *Error for each key file that is
// not used, sorted by path.
func (s *Store) Skipped() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var skipped []error
	for _, bad := range s.badFiles() {
		skipped = append(skipped, bad)
	}
	return skipped
}

// String names the keystore by its directory.
func (s *Store) String() string { return "file keystore " + s.dir }

func (s *Store) Close() error {
	err := s.index.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.errorf("close", errors.Join(err, s.folder.close()))
}

// Refresh implements keystore.Refresher: it takes in what other processes have changed and
// added since the last time. If there is nothing, it costs two stats.
func (s *Store) Refresh(ctx context.Context) error {
	if err := s.followChanges(ctx); err != nil {
		return err
	}
	return s.takeInNew(ctx)
}

// asReader calls read after a refresh, holding s.mu.
func (s *Store) asReader(ctx context.Context, read func() error) error {
	if err := s.Refresh(ctx); err != nil {
		return err
	}
	return s.locked(read)
}

// locked calls do, holding s.mu, unless the Store is closed.
func (s *Store) locked(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	return do()
}

// takeInNew takes in the files that were added since the last time. If there are none,
// it costs one stat.
func (s *Store) takeInNew(ctx context.Context) error {
	if s.unchanged() {
		return nil
	}
	return s.locked(func() error {
		if s.unchanged() { // another goroutine was faster
			return nil
		}
		return s.errorf("read new keys", s.takeIn(ctx))
	})
}

// followChanges rereads the key files that were replaced or removed since the last time,
// by this process or another. If there are none, it costs one stat. It precedes every
// look-up, so that a disabled or deleted key no longer signs.
func (s *Store) followChanges(ctx context.Context) error {
	now, err := s.changesVersion()
	if err != nil || now == *s.followed.Load() {
		return err
	}
	return s.locked(func() error { return s.follow(ctx) })
}

// turn is what a writer leaves behind: the modification times of the lock file, which
// every writer sets to its clock, and of the directory of keys. If this Store's next turn
// finds both unchanged, no other writer came in between, and there is nothing to read:
// adding n keys one after the other lists the directory once rather than n times.
type turn struct{ lock, directory time.Time }
