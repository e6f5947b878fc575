package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// disk is where the keystore's directory is: osDisk, or in tests one that fails.
type disk interface {
	MkdirAll(path string, mode fs.FileMode) error
	OpenDirectory(path string) (directory, error)
}

// directory is what the keystore does with a directory, as os.Root does it:
// names are looked up in this very directory, and none leads out of it.
type directory interface {
	OpenFile(name string, flag int, mode fs.FileMode) (openFile, error)
	OpenDirectory(name string) (directory, error)
	Lstat(name string) (fs.FileInfo, error)
	Mkdir(name string, mode fs.FileMode) error
	Rename(oldName, newName string) error
	Remove(name string) error
	Chtimes(name string, accessed, modified time.Time) error
	io.Closer
}

// openFile is what the keystore does with an open file, or with an open
// directory that it lists or syncs, as os.File does it.
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

type osDirectory struct{ *os.Root }

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
	return osDirectory{root}, nil
}

const (
	fileMode      = 0o600
	directoryMode = 0o700
	tempPrefix    = ".new-" // of files that are being written
)

// readFile returns a file of at most limit bytes, if it is a regular file that
// only its owner can read or write. Links are not followed.
func readFile(root directory, name string, limit int64) ([]byte, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return readSeen(root, name, before, limit)
}

// readSeen is readFile for a file that Lstat has just been asked about.
func readSeen(root directory, name string, before fs.FileInfo, limit int64) ([]byte, error) {
	if err := checkFile(before, limit); err != nil {
		return nil, err
	}
	// O_NONBLOCK: if it was exchanged for a pipe meanwhile, do not wait.
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
		return nil, fmt.Errorf("%w: exchanged while it was opened", ErrPermissions)
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
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%w: mode %04o lets others in: chmod 600 it, and think about who may have had it", ErrPermissions, info.Mode().Perm())
	}
	if info.Size() > limit {
		return fmt.Errorf("%w: %d bytes, at most %d are read", ErrMalformed, info.Size(), limit)
	}
	return nil
}

func checkDirectory(info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%w: not a directory but %s", ErrPermissions, info.Mode())
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%w: mode %04o lets others in: chmod 700 it", ErrPermissions, info.Mode().Perm())
	}
	return nil
}

// writeTemp writes a new file under a temporary name, safe on disk.
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

// replaceFile writes a file in one step: after a crash there is the old one or
// the new one, whole.
func replaceFile(root directory, name string, content []byte) error {
	temp, err := writeTemp(root, content)
	if err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil {
		_ = root.Remove(temp)
		return err
	}
	return syncDirectory(root)
}

// syncDirectory makes names that were added safe on disk.
func syncDirectory(root directory) error {
	directory, err := root.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// names lists a directory in another, or that one itself: ".".
func names(root directory, name string) ([]string, error) {
	directory, err := root.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer directory.Close()
	return directory.Readdirnames(-1)
}

// sweep removes what writers that crashed have left behind. The lock is held:
// no writer is active.
func sweep(root directory) {
	all, err := names(root, ".")
	if err != nil {
		return
	}
	for _, name := range all {
		if strings.HasPrefix(name, tempPrefix) {
			_ = root.Remove(name)
		}
	}
}

// syncAll makes names that were added to directories safe on disk.
func (s *Store) syncAll(directories []string) error {
	for _, path := range directories {
		root, err := s.disk.OpenDirectory(path)
		if err != nil {
			return err
		}
		if err := errors.Join(syncDirectory(root), root.Close()); err != nil {
			return err
		}
	}
	return nil
}
