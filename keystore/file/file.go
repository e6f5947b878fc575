package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"unique"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Store is a keystore.Keystore over a directory. Use Create or Open to make one.
type Store struct {
	dir      string
	options  Options
	index    software.Index
	disk     disk
	root     directory
	keysRoot directory // its keys/

	// mu is held by who writes, and by who looks for keys that others added.
	mu       sync.Mutex
	closed   bool
	identity *identity
	sealer   *sealer
	known    map[uuid.UUID]unique.Handle[string] // organizations of the files that were read, by id
	parked   parked
	wallets  map[string]*knownWallet // by id
	accounts map[string]string       // wallet's id by key's
	bad      map[string]badFile      // by name

	// settled is the modification time of keys/ in nanoseconds, if all that
	// is in it has been seen and no later change can have the same time; else 0.
	settled atomic.Int64

	wrote  turn // our last turn among the writers
	missed bool // in this turn a file was written that is not in the index

	// followed is the version of changes that was read.
	followed atomic.Pointer[version]
}

var (
	_ keystore.Keystore  = (*Store)(nil)
	_ keystore.Skipper   = (*Store)(nil)
	_ keystore.Generator = (*Store)(nil)
	_ keystore.Importer  = (*Store)(nil)
	_ keystore.Exporter  = (*Store)(nil)
)

const (
	identityName = "identity.age"
	keysName     = "keys"
	keySuffix    = ".age"
)

func newStore(on disk, dir string, options Options) *Store {
	s := &Store{
		dir: dir, options: options.withDefaults(), disk: on,
		known: map[uuid.UUID]unique.Handle[string]{}, wallets: map[string]*knownWallet{}, accounts: map[string]string{}, bad: map[string]badFile{},
	}
	s.followed.Store(&version{})
	return s
}

// errorf names the keystore in an error that does not name a file of it.
func (s *Store) errorf(doing string, err error) error {
	if _, isAboutFiles := errors.AsType[*BadFilesError](err); isAboutFiles {
		return err
	}
	return fmt.Errorf("file keystore %s: %s: %w", s.dir, doing, err)
}

// fileError says which file of the directory is bad.
func (s *Store) fileError(err error, elem ...string) *Error {
	// os.Root names the path itself, from inside.
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &Error{Path: filepath.Join(append([]string{s.dir}, elem...)...), Err: err}
}

// Find implements keystore.Keystore. For a key that is not known it looks
// whether another process has added files.
func (s *Store) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	if err := s.followChanges(ctx); err != nil {
		return nil, err
	}
	key, err := s.index.Find(ctx, organizationID, at)
	if !errors.Is(err, keystore.ErrKeyNotFound) {
		return key, err
	}
	if err := s.lookAgain(ctx); err != nil {
		return nil, err
	}
	if key, err = s.index.Find(ctx, organizationID, at); err != nil {
		s.tellDisabled(organizationID, at)
	}
	return key, err
}

// tellDisabled tells the operator, and no one else, that a disabled key is asked for.
func (s *Store) tellDisabled(organizationID string, at keystore.Locator) {
	s.mu.Lock()
	info, disabled := s.parked.find(organizationID, at)
	s.mu.Unlock()
	switch {
	case !disabled:
	case s.options.OnDisabled != nil:
		s.options.OnDisabled(info)
	default:
		s.options.Logger.Warn("a disabled key was asked for", "organization", organizationID, "key", info.ID, "name", info.Name)
	}
}

// Keys implements keystore.Keystore. It looks for files that other processes
// have added when the iteration starts.
func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		if err := s.lookAgain(ctx); err != nil {
			yield(keystore.KeyInfo{}, err)
			return
		}
		s.index.Keys(ctx, organizationID)(yield)
	}
}

// RevealSecret calls use with the secret of a key, keystore.SecretSize bytes:
// to export it. use must not keep them.
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
// not used, by path.
func (s *Store) Skipped() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for _, bad := range s.badFiles() {
		all = append(all, bad)
	}
	return all
}

// Dir returns the directory, as it was given.
func (s *Store) Dir() string { return s.dir }

// String returns where the keystore is.
func (s *Store) String() string { return "file keystore " + s.dir }

// Close implements keystore.Keystore.
func (s *Store) Close() error {
	err := s.index.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.sealer != nil {
		s.sealer.macKey.Destroy()
	}
	s.identity, s.sealer = nil, nil
	for _, root := range []directory{s.root, s.keysRoot} {
		if root != nil {
			err = errors.Join(err, root.Close())
		}
	}
	if err != nil {
		return s.errorf("close", err)
	}
	return nil
}
