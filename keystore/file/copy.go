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

// Copy copies the keystore in one directory to another, which must be empty or not exist: to make a
// backup, or to restore one. It needs no passphrase, because it copies the encrypted files. It
// holds the lock meanwhile, so that the copy is consistent even if the keystore is in use. When it
// returns without error, the copy is safe on disk. An interrupted copy has no identity.age and
// cannot be opened. Copy returns the number of key files copied, archived ones included.
//
// Copy does not verify the files; opening the copy does, with the same passphrase.
func Copy(ctx context.Context, from, to string, options Options) (files int, err error) {
	source, target := newFolder(osDisk{}, from, options), newFolder(osDisk{}, to, options)
	defer func() { err = errors.Join(err, source.close(), target.close()) }()
	if err = source.openRoot(); err == nil {
		err = source.openKeysRoot()
	}
	if err != nil {
		return 0, source.errorf("copy", err)
	}
	parents, err := target.newParents()
	if err == nil {
		err = target.openForCopy()
	}
	if err != nil {
		return 0, target.errorf("create the copy", err)
	}
	if files, err = source.copyTo(ctx, &target); err != nil {
		return 0, source.errorf("copy", err)
	}
	return files, target.syncAll(parents)
}

// openForCopy creates and opens the directory of a copy.
func (f *folder) openForCopy() error {
	if err := f.disk.MkdirAll(f.dir, directoryMode); err != nil {
		return err
	}
	if err := f.openRoot(); err != nil {
		return err
	}
	present, err := names(f.root, ".")
	if err == nil && len(present) > 0 {
		err = fmt.Errorf("%w: %s is not empty: name an empty directory, or one that does not exist", fs.ErrExist, f.dir)
	}
	return err
}

// copyTo copies all files; identity.age comes last.
func (f *folder) copyTo(ctx context.Context, target *folder) (files int, err error) {
	unlock, _, err := lock(ctx, f.root, f.options.LockWait)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if files, err = f.copyDirectory(ctx, target, keysName, keySuffix); err != nil {
		return 0, err
	}
	archived, err := f.copyDirectory(ctx, target, deletedName, keySuffix)
	if err != nil {
		return 0, err
	}
	if _, err := f.copyDirectory(ctx, target, registeredName, registeredSuffix); err != nil {
		return 0, err
	}
	identity, err := readFile(f.root, identityName, maxIdentitySize)
	if err != nil {
		return 0, f.fileError(err, identityName)
	}
	return files + archived, replaceFile(target.root, identityName, identity)
}

// copyDirectory copies the files of a directory that have the suffix, if there is one, many at once.
func (f *folder) copyDirectory(ctx context.Context, target *folder, name, suffix string) (files int, err error) {
	from, err := f.openBelow(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer from.Close()
	if err := target.root.Mkdir(name, directoryMode); err != nil {
		return 0, err
	}
	to, err := target.openBelow(name)
	if err != nil {
		return 0, err
	}
	defer to.Close()
	present, err := names(from, ".")
	if err != nil {
		return 0, err
	}
	var copied atomic.Int64
	var once sync.Once
	inParallel(len(present), writers, func(i int) {
		if !strings.HasSuffix(present[i], suffix) || ctx.Err() != nil {
			return
		}
		content, failed := readFile(from, present[i], maxKeyFileSize)
		var temp string
		if failed == nil {
			temp, failed = writeTemp(to, content)
		}
		if failed == nil {
			failed = to.Rename(temp, present[i])
		}
		if failed != nil {
			once.Do(func() { err = &Error{Path: filepath.Join(f.dir, name, present[i]), Err: failed} })
		}
		if copied.Add(1)%writers == 0 {
			showProgress(f.root)
		}
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return 0, err
	}
	return int(copied.Load()), to.Sync()
}
