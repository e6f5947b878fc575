package file

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/countersign-dev/countersign/internal/trust"
)

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

const (
	identityName = "identity.age"
	keysName     = "keys"
	keySuffix    = ".age"
)

func newFolder(on disk, dir string, options Options) folder {
	options.WorkFactor = cmp.Or(options.WorkFactor, DefaultWorkFactor)
	options.MaxWorkFactor = cmp.Or(options.MaxWorkFactor, DefaultMaxWorkFactor)
	options.LockWait = cmp.Or(options.LockWait, DefaultLockWait)
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	return folder{dir: dir, options: options, disk: on, registry: &registry{}}
}

// close destroys the keys of the folder and closes its directories.
func (f *folder) close() (err error) {
	if f.sealer != nil {
		f.sealer.macKey.Destroy()
	}
	f.registry.mu.Lock()
	f.registry.key.Destroy()
	f.registry.was = nil
	f.registry.mu.Unlock()
	f.identity, f.sealer = nil, nil
	for _, root := range []directory{f.root, f.keysRoot} {
		if root != nil {
			err = errors.Join(err, root.Close())
		}
	}
	return err
}

// errorf adds the keystore and the operation to an error, if there is one and it does not list bad
// files.
func (f *folder) errorf(operation string, err error) error {
	if _, ok := errors.AsType[*BadFilesError](err); ok || err == nil {
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

// syncAll syncs directories to which names were added.
func (f *folder) syncAll(directories []string) error {
	for _, path := range directories {
		root, err := f.disk.OpenDirectory(path)
		if err != nil {
			return err
		}
		if err := errors.Join(root.Sync(), root.Close()); err != nil {
			return err
		}
	}
	return nil
}

// checkOwner refuses to write into the keystore of another user. Root could, but the
// service that owns the keystore could not read the files that root writes.
func (f *folder) checkOwner() error {
	info, err := f.root.Stat()
	if err != nil {
		return err
	}
	if err := trust.OwnDirectory(info, f.dir); err != nil {
		return fmt.Errorf("%w: %w", ErrPermissions, err)
	}
	return nil
}

// openRoot opens the directory. All later operations are relative to this very
// directory, even if it is renamed.
func (f *folder) openRoot() (err error) {
	if f.root, err = f.disk.OpenDirectory(f.dir); err != nil {
		return err
	}
	info, err := f.root.Stat()
	if err != nil {
		return err
	}
	if err := checkDirectory(info); err != nil {
		return f.fileError(err)
	}
	return nil
}

func (f *folder) openKeysRoot() (err error) {
	f.keysRoot, err = f.openBelow(keysName)
	return err
}

// openBelow opens a directory of the keystore that need not exist.
func (f *folder) openBelow(name string) (directory, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, f.fileError(err, name)
	}
	if err := checkDirectory(info); err != nil {
		return nil, f.fileError(err, name)
	}
	return f.root.OpenDirectory(name)
}
