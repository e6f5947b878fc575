package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

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
