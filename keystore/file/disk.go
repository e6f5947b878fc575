package file

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/countersign-dev/countersign/internal/trust"
)

// disk holds the keystore's directory: osDisk, or in tests a disk that fails.
type disk interface {
	MkdirAll(path string, mode fs.FileMode) error
	OpenDirectory(path string) (directory, error)
}

// directory is an open directory with the semantics of os.Root: names are looked up in
// this very directory, and none leads out of it.
type directory interface {
	OpenFile(name string, flag int, mode fs.FileMode) (openFile, error)
	OpenDirectory(name string) (directory, error)
	Lstat(name string) (fs.FileInfo, error)
	Mkdir(name string, mode fs.FileMode) error
	Rename(oldName, newName string) error
	Remove(name string) error
	Chtimes(name string, accessed, modified time.Time) error
	Stat() (fs.FileInfo, error) // of the directory itself
	Sync() error                // makes added, renamed and removed names safe on disk
	io.Closer
}

// openFile is an open file, or a directory opened to be listed, with the semantics of os.File.
type openFile interface {
	io.ReadWriteCloser
	io.ReaderAt
	Fd() uintptr // for flock
	Readdirnames(n int) ([]string, error)
	Stat() (fs.FileInfo, error)
	Sync() error
}

type osDisk struct{}

func (osDisk) MkdirAll(path string, mode fs.FileMode) error { return os.MkdirAll(path, mode) }

func (osDisk) OpenDirectory(path string) (directory, error) { return rooted(os.OpenRoot(path)) }

type osDirectory struct {
	*os.Root
	self *os.File // the same directory
}

func (d osDirectory) OpenFile(name string, flag int, mode fs.FileMode) (openFile, error) {
	return d.Root.OpenFile(name, flag, mode)
}

func (d osDirectory) OpenDirectory(name string) (directory, error) {
	return rooted(d.OpenRoot(name))
}

func rooted(root *os.Root, err error) (directory, error) {
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return osDirectory{root, self}, nil
}

func (d osDirectory) Stat() (fs.FileInfo, error) { return d.self.Stat() }

func (d osDirectory) Sync() error { return d.self.Sync() }

func (d osDirectory) Close() error { return errors.Join(d.self.Close(), d.Root.Close()) }

const (
	fileMode      = 0o600
	directoryMode = 0o700
	tempPrefix    = ".new-" // of files being written
)

// readFile reads a regular file of at most limit bytes that only its owner can read or
// write. It does not follow links.
func readFile(root directory, name string, limit int64) ([]byte, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return readChecked(root, name, before, limit)
}

// readChecked is readFile for a file of which the caller has the result of Lstat.
func readChecked(root directory, name string, before fs.FileInfo, limit int64) ([]byte, error) {
	if err := checkFile(before, limit); err != nil {
		return nil, err
	}
	// O_NONBLOCK: do not block if the file was replaced by a pipe meanwhile.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	after, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(before, after) {
		return nil, fmt.Errorf("%w: replaced while it was opened", ErrPermissions)
	}
	content := make([]byte, before.Size()+1)
	switch n, err := io.ReadFull(file, content); {
	case err == nil:
		return nil, fmt.Errorf("%w: grew while it was read", ErrPermissions)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return content[:n], nil
	default:
		return nil, err
	}
}

func checkFile(info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file but %s", ErrPermissions, info.Mode())
	}
	if !trust.Private(info) {
		return fmt.Errorf("%w: mode %04o gives other users access: run chmod 600, and consider who may have read "+
			"or replaced it", ErrPermissions, info.Mode().Perm())
	}
	if info.Size() > limit {
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrMalformed, info.Size(), limit)
	}
	return nil
}

func checkDirectory(info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%w: not a directory but %s", ErrPermissions, info.Mode())
	}
	if !trust.Private(info) {
		return fmt.Errorf("%w: mode %04o gives other users access: run chmod 700", ErrPermissions, info.Mode().Perm())
	}
	return nil
}

// writeTemp writes a new file under a temporary name and syncs it.
func writeTemp(root directory, content []byte) (name string, err error) {
	name = tempPrefix + rand.Text()
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		_ = root.Remove(name)
		return "", err
	}
	return name, nil
}

// replaceFile writes a file atomically and syncs it: a crash leaves the old file or the
// new one, whole.
func replaceFile(root directory, name string, content []byte) error {
	temp, err := writeTemp(root, content)
	if err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil {
		_ = root.Remove(temp)
		return err
	}
	return root.Sync()
}

// names lists a directory below root, or with "." root itself.
func names(root directory, name string) ([]string, error) {
	directory, err := root.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer directory.Close()
	return directory.Readdirnames(-1)
}

// sweep removes the temporary files of crashed writers. The caller holds the lock, so
// that no writer is active.
func sweep(root directory) {
	present, err := names(root, ".")
	if err != nil {
		return
	}
	for _, name := range present {
		if strings.HasPrefix(name, tempPrefix) {
			_ = root.Remove(name)
		}
	}
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
