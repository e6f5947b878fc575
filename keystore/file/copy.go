package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// Copy copies the keystore in one directory into another, which must be empty or not
// there: for a backup, and to put one back. It needs no passphrase, for it copies what is
// encrypted, and takes the lock meanwhile, so that the copy is of one instant, also of a
// keystore that is in use. When it returns without error, the copy is safe on disk; a
// copy that was broken off has no identity.age, and no one takes it for a keystore. It
// returns how many key files were copied, those that were deleted among them.
//
// Copy does not check the files; opening the copy does, with the same passphrase.
func Copy(ctx context.Context, from, to string, options Options) (files int, err error) {
	source, target := newStore(osDisk{}, from, options), newStore(osDisk{}, to, options)
	defer func() { err = errors.Join(err, source.Close(), target.Close()) }()
	if err := source.openToCopy(); err != nil {
		return 0, source.errorf("copy", err)
	}
	parents, err := target.missingNames()
	if err == nil {
		err = target.openForCopy()
	}
	if err != nil {
		return 0, target.errorf("copy to it", err)
	}
	if files, err = source.copyTo(ctx, target); err != nil {
		return 0, source.errorf("copy", err)
	}
	return files, target.syncAll(parents)
}

func (s *Store) openToCopy() error {
	if err := s.openRoot(); err != nil {
		return err
	}
	return s.openKeysRoot()
}

// openForCopy makes the directory that a copy goes to.
func (s *Store) openForCopy() error {
	if err := s.disk.MkdirAll(s.dir, directoryMode); err != nil {
		return err
	}
	if err := s.openRoot(); err != nil {
		return err
	}
	there, err := names(s.root, ".")
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%w: %s is not empty: name a directory that is, or is not there", fs.ErrExist, s.dir)
	}
	if err == nil {
		err = s.root.Mkdir(keysName, directoryMode)
	}
	if err != nil {
		return err
	}
	return s.openKeysRoot()
}

// copyTo copies all files; identity.age comes last.
func (s *Store) copyTo(ctx context.Context, target *Store) (files int, err error) {
	unlock, _, err := lock(ctx, s.root, s.options.LockWait)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if files, err = s.copyFiles(ctx, s.keysRoot, target.keysRoot, keysName); err != nil {
		return 0, err
	}
	more, err := s.copyDeleted(ctx, target)
	if err != nil {
		return 0, err
	}
	identity, err := readFile(s.root, identityName, maxIdentitySize)
	if err != nil {
		return 0, s.fileError(err, identityName)
	}
	return files + more, replaceFile(target.root, identityName, identity)
}

func (s *Store) copyDeleted(ctx context.Context, target *Store) (files int, err error) {
	from, err := s.openDeleted()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer from.Close()
	if err := target.root.Mkdir(deletedName, directoryMode); err != nil {
		return 0, err
	}
	to, err := target.openDeleted()
	if err != nil {
		return 0, err
	}
	defer to.Close()
	return s.copyFiles(ctx, from, to, deletedName)
}

// copyFiles copies the key files of a directory, many at once, and makes their names
// safe on disk.
func (s *Store) copyFiles(ctx context.Context, from, to directory, place string) (files int, err error) {
	all, err := names(from, ".")
	if err != nil {
		return 0, err
	}
	var copied atomic.Int64
	var once sync.Once
	inParallel(len(all), writers, func(i int) {
		if !strings.HasSuffix(all[i], keySuffix) || ctx.Err() != nil {
			return
		}
		if failed := copyFile(from, to, all[i]); failed != nil {
			once.Do(func() { err = &Error{Path: filepath.Join(s.dir, place, all[i]), Err: failed} })
		}
		if copied.Add(1)%writers == 0 {
			showProgress(s.root)
		}
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return 0, err
	}
	return int(copied.Load()), syncDirectory(to)
}

func copyFile(from, to directory, name string) error {
	content, err := readFile(from, name, maxKeyFileSize)
	if err != nil {
		return err
	}
	temp, err := writeTemp(to, content)
	if err != nil {
		return err
	}
	return to.Rename(temp, name)
}
