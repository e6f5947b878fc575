package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/countersign-dev/countersign/keystore"
)

// Create creates a keystore in a directory, which it creates if needed, and opens it. age
// keeps a copy of the passphrase; the caller should wipe its own. If the directory has a
// keystore already, the error wraps fs.ErrExist.
func Create(dir string, passphrase []byte, options Options) (*Store, error) {
	return createOn(osDisk{}, dir, passphrase, options)
}

// OpenOrCreate opens the keystore in a directory, or creates it if there is none. It is for
// programs that keep keys of their own: an operator's service should use Open, which fails if
// the path is wrong or the directory is not mounted. Key files without the keystore's
// identity.age are never taken for an empty directory.
func OpenOrCreate(ctx context.Context, dir string, passphrase []byte, options Options) (*Store, error) {
	opened, err := Open(ctx, dir, passphrase, options)
	if !errors.Is(err, fs.ErrNotExist) {
		return opened, err
	}
	created, err := Create(dir, passphrase, options)
	if !errors.Is(err, fs.ErrExist) {
		return created, err
	}
	// Another process has just created it, or something else is in its place.
	if opened, openErr := Open(ctx, dir, passphrase, options); !errors.Is(openErr, fs.ErrNotExist) {
		return opened, openErr
	}
	return nil, err
}

func createOn(on disk, dir string, passphrase []byte, options Options) (*Store, error) {
	s := newStore(on, dir, options)
	if err := s.options.check(); err != nil {
		return nil, s.errorf("create", err)
	}
	if err := s.create(passphrase); err != nil {
		_ = s.Close()
		return nil, s.errorf("create", err)
	}
	return s, nil
}

func (s *Store) create(passphrase []byte) (err error) {
	if s.identity, err = newIdentity(s.options.Recovery, s.options.PostQuantum); err != nil {
		return err
	}
	parents, err := s.newParents()
	if err != nil {
		return err
	}
	if err := s.disk.MkdirAll(s.dir, directoryMode); err != nil {
		return err
	}
	if err := s.openRoot(); err != nil {
		return err
	}
	if err := s.checkOwner(); err != nil {
		return err
	}
	if err := s.checkEmpty(); err != nil {
		return err
	}
	// scrypt runs before taking the lock, so that other writers do not wait for it.
	identity, err := s.encryptIdentity(passphrase)
	if err != nil {
		return err
	}
	if err := s.establish(identity); err != nil {
		return err
	}
	if s.sealer, err = s.identity.sealer(); err != nil {
		return err
	}
	if s.registry, err = newRegistry(s.identity); err != nil {
		return err
	}
	return s.syncAll(parents)
}

// encryptIdentity encrypts the identity with a passphrase, unless Open with the same options
// would then refuse it.
func (s *Store) encryptIdentity(passphrase []byte) ([]byte, error) {
	if s.options.WorkFactor > s.options.MaxWorkFactor {
		return nil, fmt.Errorf("%w: Options.WorkFactor is %d and Options.MaxWorkFactor %d: Open would refuse the keystore", ErrWorkFactor, s.options.WorkFactor, s.options.MaxWorkFactor)
	}
	return s.identity.encrypt(passphrase, s.options.WorkFactor)
}

// newParents returns the parents of the keystore's directory and of every directory above
// it that does not exist yet. They are to be synced, so that the new names survive a power
// cut. The keystore's directory is included even if it exists: its name may be new too.
func (s *Store) newParents() (parents []string, err error) {
	for dir := filepath.Clean(s.dir); ; dir = filepath.Dir(dir) {
		parents = append(parents, filepath.Dir(dir))
		root, err := s.disk.OpenDirectory(filepath.Dir(dir))
		if err == nil {
			return parents, root.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// establish creates the directory of keys and identity.age, unless another process has
// done so meanwhile.
func (s *Store) establish(identity []byte) error {
	unlock, _, err := lock(context.Background(), s.root, s.options.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.checkEmpty(); err != nil {
		return err
	}
	// identity.age comes last: a directory that has one is a complete keystore.
	if err := s.root.Mkdir(keysName, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := s.openKeysRoot(); err != nil {
		return err
	}
	return replaceFile(s.root, identityName, identity)
}

// checkEmpty refuses to create a keystore over an existing one, or over key files without
// an identity.age: they need the identity that they belong to.
func (s *Store) checkEmpty() error {
	switch _, err := s.root.Lstat(identityName); {
	case err == nil:
		return s.fileError(fmt.Errorf("%w: the directory has a keystore: open it, or choose another directory", fs.ErrExist), identityName)
	case !errors.Is(err, fs.ErrNotExist):
		return s.fileError(err, identityName)
	}
	entries, err := names(s.root, keysName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return s.fileError(fmt.Errorf("%w: key files without the identity.age they belong to: restore it from a backup", fs.ErrExist), keysName)
	}
	return nil
}

// ChangePassphrase encrypts identity.age with another passphrase. The identity and the
// keys do not change: anyone with a copy of the former file and its passphrase can still
// read them. After an error, either the former or the new passphrase opens the keystore.
func (s *Store) ChangePassphrase(passphrase []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	if err := s.changePassphrase(passphrase); err != nil {
		return s.errorf("change passphrase", err)
	}
	return nil
}

func (s *Store) changePassphrase(passphrase []byte) error {
	if err := s.checkOwner(); err != nil {
		return err
	}
	identity, err := s.encryptIdentity(passphrase)
	if err != nil {
		return err
	}
	unlock, _, err := lock(context.Background(), s.root, s.options.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return replaceFile(s.root, identityName, identity)
}
