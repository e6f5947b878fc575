package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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
	return s.start("create", func() error { return s.create(passphrase) })
}

// start creates or opens the keystore, and closes it if that fails.
func (s *Store) start(operation string, do func() error) (*Store, error) {
	err := s.options.check()
	if err == nil {
		err = do()
	}
	if err != nil {
		_ = s.Close()
		return nil, s.errorf(operation, err)
	}
	return s, nil
}

func (f *folder) create(passphrase []byte) (err error) {
	if f.identity, err = newIdentity(f.options.Recovery, f.options.PostQuantum); err != nil {
		return err
	}
	parents, err := f.newParents()
	if err != nil {
		return err
	}
	if err := f.disk.MkdirAll(f.dir, directoryMode); err != nil {
		return err
	}
	if err := f.openRoot(); err != nil {
		return err
	}
	if err := f.checkOwner(); err != nil {
		return err
	}
	if err := f.checkEmpty(); err != nil {
		return err
	}
	// scrypt runs before taking the lock, so that other writers do not wait for it.
	identity, err := f.encryptIdentity(passphrase)
	if err != nil {
		return err
	}
	if err := f.establish(identity); err != nil {
		return err
	}
	if err := f.deriveKeys(); err != nil {
		return err
	}
	return f.syncAll(parents)
}

// encryptIdentity encrypts the identity with a passphrase, unless Open with the same options
// would then refuse it.
func (f *folder) encryptIdentity(passphrase []byte) ([]byte, error) {
	if f.options.WorkFactor > f.options.MaxWorkFactor {
		return nil,
			fmt.Errorf("%w: Options.WorkFactor is %d and Options.MaxWorkFactor %d: Open would refuse the keystore",
				ErrWorkFactor, f.options.WorkFactor, f.options.MaxWorkFactor)
	}
	return f.identity.encrypt(passphrase, f.options.WorkFactor)
}

// newParents returns the parents of the keystore's directory and of every directory above
// it that does not exist yet. They are to be synced, so that the new names survive a power
// cut. The keystore's directory is included even if it exists: its name may be new too.
func (f *folder) newParents() (parents []string, err error) {
	for dir := filepath.Clean(f.dir); ; dir = filepath.Dir(dir) {
		parents = append(parents, filepath.Dir(dir))
		root, err := f.disk.OpenDirectory(filepath.Dir(dir))
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
func (f *folder) establish(identity []byte) error {
	unlock, _, err := lock(context.Background(), f.root, f.options.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := f.checkEmpty(); err != nil {
		return err
	}
	// identity.age comes last: a directory that has one is a complete keystore.
	if err := f.root.Mkdir(keysName, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := f.openKeysRoot(); err != nil {
		return err
	}
	return replaceFile(f.root, identityName, identity)
}

// checkEmpty refuses to create a keystore over an existing one, or over key files without
// an identity.age: they need the identity that they belong to.
func (f *folder) checkEmpty() error {
	switch _, err := f.root.Lstat(identityName); {
	case err == nil:
		return f.fileError(fmt.Errorf("%w: the directory has a keystore: open it, or choose another directory", fs.ErrExist), identityName)
	case !errors.Is(err, fs.ErrNotExist):
		return f.fileError(err, identityName)
	}
	entries, err := names(f.root, keysName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return f.fileError(fmt.Errorf("%w: key files without the identity.age they belong to: restore it from a "+
			"backup", fs.ErrExist), keysName)
	}
	return nil
}

// ChangePassphrase encrypts identity.age with another passphrase. The identity and the
// keys do not change: anyone with a copy of the former file and its passphrase can still
// read them. After an error, either the former or the new passphrase opens the keystore.
func (s *Store) ChangePassphrase(passphrase []byte) error {
	return s.locked(func() error { return s.errorf("change passphrase", s.changePassphrase(passphrase)) })
}

func (f *folder) changePassphrase(passphrase []byte) error {
	if err := f.checkOwner(); err != nil {
		return err
	}
	identity, err := f.encryptIdentity(passphrase)
	if err != nil {
		return err
	}
	unlock, _, err := lock(context.Background(), f.root, f.options.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return replaceFile(f.root, identityName, identity)
}

// Open opens a keystore. It runs one scrypt and then reads all key files on all
// processors. The error wraps *BadFilesError if key files are bad, ErrPassphrase if the
// passphrase is wrong, and fs.ErrNotExist if the directory has no keystore.
func Open(ctx context.Context, dir string, passphrase []byte, options Options) (*Store, error) {
	return openOn(ctx, osDisk{}, dir, passphrase, options)
}

func openOn(ctx context.Context, on disk, dir string, passphrase []byte, options Options) (*Store, error) {
	s := newStore(on, dir, options)
	return s.start("open", func() error { return s.open(ctx, passphrase) })
}

func (s *Store) open(ctx context.Context, passphrase []byte) error {
	if err := s.openRoot(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: there is no keystore here: create one first", err)
		}
		return err
	}
	if err := s.openKeysRoot(); err != nil {
		return err
	}
	if err := s.readIdentity(passphrase); err != nil {
		return err
	}
	// A writer that is active now keeps its temporary files.
	if unlock, _, err := lock(context.Background(), s.root, 0); err == nil {
		sweep(s.root)
		sweep(s.keysRoot)
		unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := s.changesVersion() // later changes are read again
	if err != nil {
		return err
	}
	s.followed.Store(&now)
	if err := s.takeIn(ctx); err != nil {
		return err
	}
	s.registry.mu.Lock()
	err = s.readRegistered()
	files := len(s.bad) + len(s.owners) + len(s.registry.was)
	s.registry.mu.Unlock()
	if err != nil {
		return err
	}
	if bad := s.badFiles(); len(bad) > 0 && !s.options.SkipInvalid {
		return &BadFilesError{Files: bad, Total: files}
	}
	return nil
}

func (f *folder) readIdentity(passphrase []byte) (err error) {
	content, err := readFile(f.root, identityName, maxIdentitySize)
	if errors.Is(err, fs.ErrNotExist) {
		return f.fileError(fmt.Errorf("%w: there is no keystore here: create one, or restore the file from a backup",
			fs.ErrNotExist), identityName)
	}
	if err != nil {
		return f.fileError(err, identityName)
	}
	if f.identity, err = decryptIdentity(content, passphrase, f.options.MaxWorkFactor); err != nil {
		return f.fileError(err, identityName)
	}
	return f.deriveKeys()
}
