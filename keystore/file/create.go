package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/countersign-dev/countersign/keystore"
)

// Create makes a new keystore in a directory, which it makes too if it is not
// there, and opens it. The passphrase is copied by age; the caller should wipe
// theirs. If there is a keystore already, the error is fs.ErrExist.
func Create(dir string, passphrase []byte, options Options) (*Store, error) {
	return createOn(osDisk{}, dir, passphrase, options)
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
	parents, err := s.missingNames()
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
	// scrypt runs before the lock is taken, so that other writers do not wait for it.
	identity, err := s.identity.encrypt(passphrase, s.options.WorkFactor)
	if err != nil {
		return err
	}
	if err := s.establish(identity); err != nil {
		return err
	}
	if s.sealer, err = s.identity.sealer(); err != nil {
		return err
	}
	return s.syncAll(parents)
}

// missingNames returns the directories to which the names of the keystore's
// directory, and of those above it that are not there yet, are to come. Its own
// name may be as new as theirs.
func (s *Store) missingNames() (parents []string, err error) {
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

// establish makes the directory of keys and identity.age, unless another process has
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
	// identity.age comes last: a directory that has one is a whole keystore.
	if err := s.root.Mkdir(keysName, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := s.openKeysRoot(); err != nil {
		return err
	}
	return replaceFile(s.root, identityName, identity)
}

// checkEmpty refuses to make a keystore where there is one, or is what is left
// of one: its key files need the identity that belongs to them.
func (s *Store) checkEmpty() error {
	switch _, err := s.root.Lstat(identityName); {
	case err == nil:
		return s.fileError(fmt.Errorf("%w: there is a keystore already: open it, or choose another directory", fs.ErrExist), identityName)
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

// ChangePassphrase encrypts identity.age with another passphrase. The keys stay
// as they are: who has a copy of the former file and its passphrase can still
// read them. After an error, it is either the former passphrase or the new one
// that opens the keystore.
func (s *Store) ChangePassphrase(passphrase []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	if err := s.checkOwner(); err != nil {
		return s.errorf("change passphrase", err)
	}
	identity, err := s.identity.encrypt(passphrase, s.options.WorkFactor)
	if err != nil {
		return s.errorf("change passphrase", err)
	}
	unlock, _, err := lock(context.Background(), s.root, s.options.LockWait)
	if err != nil {
		return s.errorf("change passphrase", err)
	}
	defer unlock()
	if err := replaceFile(s.root, identityName, identity); err != nil {
		return s.errorf("change passphrase", err)
	}
	return nil
}
