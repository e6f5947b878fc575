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

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Where to find what: this file has look-ups; load.go reads key files, known.go holds what was read,
// and changes.go follows other processes. lock.go takes turns among writers, which are add.go,
// life.go (rename, disable), remove.go (delete, archive, restore), wallet.go and discover.go. The
// formats are in keyfile.go, keyfile_read.go, metadata.go, wallet_file.go and identity.go. disk.go is
// the file system, which tests replace.

// Store is a keystore.Keystore over a directory. Create and Open return one.
type Store struct {
	contents

	// mu is held while writing, and while taking in what other processes have written.
	mu       sync.Mutex
	closed   bool
	lastTurn turn // what this Store left behind as a writer
}

// contents is what is known of the files of keys and wallets.
type contents struct {
	folder
	index    software.Index
	owners   map[string]string // organization id of each file that was read, by key or wallet id
	parked   parked
	wallets  map[string]*knownWallet // by id
	accounts map[string]string       // wallet id by key id
	bad      map[string]badFile      // by file name
	names    map[string]named        // see namesOf
	missed   bool                    // this turn wrote a file that is not in the index

	// settled is the modification time of keys/ in nanoseconds if all its files have been
	// read and any later change must give it another time; otherwise 0.
	settled atomic.Int64

	// followed is the version of the file changes that was last read.
	followed atomic.Pointer[version]
}

// folder is the directory of a keystore, and the identity that its files are encrypted to.
type folder struct {
	dir      string
	options  Options
	disk     disk
	root     directory
	keysRoot directory // its keys/
	identity *identity
	sealer   *sealer
	registry *registry
}

var (
	_ keystore.Keystore  = (*Store)(nil)
	_ keystore.Skipper   = (*Store)(nil)
	_ keystore.Refresher = (*Store)(nil)
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
	s := &Store{contents: contents{
		folder: newFolder(on, dir, options),
		owners: map[string]string{}, wallets: map[string]*knownWallet{}, accounts: map[string]string{}, bad: map[string]badFile{}, names: map[string]named{},
	}}
	s.followed.Store(&version{})
	return s
}

func newFolder(on disk, dir string, options Options) folder {
	return folder{dir: dir, options: options.withDefaults(), disk: on, registry: &registry{}}
}

// close destroys the keys of the folder and closes its directories.
func (f *folder) close() (err error) {
	if f.sealer != nil {
		f.sealer.macKey.Destroy()
	}
	f.registry.close()
	f.identity, f.sealer = nil, nil
	for _, root := range []directory{f.root, f.keysRoot} {
		if root != nil {
			err = errors.Join(err, root.Close())
		}
	}
	return err
}

// errorf adds the keystore and the operation to an error, unless it lists bad files.
func (f *folder) errorf(operation string, err error) error {
	if _, ok := errors.AsType[*BadFilesError](err); ok {
		return err
	}
	return fmt.Errorf("file keystore %s: %s: %w", f.dir, operation, err)
}

// fileError adds the path of a file in the directory to an error.
func (f *folder) fileError(err error, elem ...string) *Error {
	// os.Root names only the path below the root.
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &Error{Path: filepath.Join(append([]string{f.dir}, elem...)...), Err: err}
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
	if key, err = s.index.Find(ctx, organizationID, locator); err != nil {
		s.reportDisabled(organizationID, locator)
	}
	return key, err
}

// reportDisabled reports a look-up of a disabled key to the operator. The caller of Find
// cannot tell such a key from one that does not exist.
func (s *Store) reportDisabled(organizationID string, locator keystore.Locator) {
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
}

// Keys implements keystore.Keystore. When the iteration starts, it takes in the files
// that other processes have added.
func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		if err := s.refresh(ctx); err != nil {
			yield(keystore.KeyInfo{}, err)
			return
		}
		s.index.Keys(ctx, organizationID)(yield)
	}
}

// RevealSecret implements keystore.Exporter.
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
	for _, bad := range append(s.badFiles(), s.badRegistered()...) {
		skipped = append(skipped, bad)
	}
	return skipped
}

// String names the keystore by its directory.
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
	err = errors.Join(err, s.folder.close())
	if err != nil {
		return s.errorf("close", err)
	}
	return nil
}
