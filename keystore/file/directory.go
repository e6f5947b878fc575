package file

import (
	"io"
	"io/fs"
	"os"
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
