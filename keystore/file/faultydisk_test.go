package file

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"sync"
	"time"
)

// FaultyDisk is a disk that calls a function before each operation while armed.
type FaultyDisk struct {
	Names map[string]string // names of ids in operations; other ids are "*"

	mu     sync.Mutex
	before func(operation string) Fault
	counts map[string]int
	open   int
}

// Fault is the outcome of an operation: it is not disturbed if Err is nil.
type Fault struct {
	Err   error
	After bool // the operation is done, but reported as failed
}

// Arm has a function called before each later operation, with the operation's name: the
// call, the file and the ordinal, such as "sync keys/.new-* #1". nil disarms.
func (d *FaultyDisk) Arm(before func(operation string) Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before, d.counts = before, map[string]int{}
}

// Open returns how many files and directories are open.
func (d *FaultyDisk) Open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// CreateOn is Create on this disk.
func CreateOn(d *FaultyDisk, dir string, passphrase []byte, options Options) (*Store, error) {
	return createOn(d, dir, passphrase, options)
}

// OpenOn is Open on this disk.
func OpenOn(ctx context.Context, d *FaultyDisk, dir string, passphrase []byte, options Options) (*Store, error) {
	return openOn(ctx, d, dir, passphrase, options)
}

var (
	anyTemp = regexp.MustCompile(regexp.QuoteMeta(tempPrefix) + `\w+`)
	anyID   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

func (d *FaultyDisk) next(what, at string) Fault {
	at = anyTemp.ReplaceAllString(at, tempPrefix+"*")
	at = anyID.ReplaceAllStringFunc(at, func(id string) string { return cmp.Or(d.Names[id], "*") })
	d.mu.Lock()
	before, operation := d.before, what+" "+at
	if before == nil {
		d.mu.Unlock()
		return Fault{}
	}
	d.counts[operation]++
	operation = fmt.Sprintf("%s #%d", operation, d.counts[operation])
	d.mu.Unlock()
	return before(operation)
}

func (d *FaultyDisk) opened(more int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open += more
}

// faulty does an operation on a file unless the next fault prevents it. A file that was
// opened and is reported as failed is closed.
func faulty[T any](d *FaultyDisk, what, at string, do func() (T, error)) (result T, err error) {
	var nothing T
	fault := d.next(what, at)
	if fault.Err == nil {
		return do()
	}
	if fault.After {
		if result, err = do(); err == nil {
			if opened, ok := any(result).(io.Closer); ok {
				_ = opened.Close()
			}
		}
	}
	return nothing, &fs.PathError{Op: what, Path: path.Base(at), Err: fault.Err}
}

func faultyError(d *FaultyDisk, what, at string, do func() error) error {
	_, err := faulty(d, what, at, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// MkdirAll implements disk.
func (d *FaultyDisk) MkdirAll(name string, mode fs.FileMode) error {
	return faultyError(d, "mkdirall", "", func() error { return osDisk{}.MkdirAll(name, mode) })
}

// OpenDirectory implements disk.
func (d *FaultyDisk) OpenDirectory(name string) (directory, error) {
	return faulty(d, "opendir", "", d.opener("", func() (directory, error) { return osDisk{}.OpenDirectory(name) }))
}

func (d *FaultyDisk) opener(at string, open func() (directory, error)) func() (directory, error) {
	return func() (directory, error) {
		opened, err := open()
		if err != nil {
			return nil, err
		}
		d.opened(+1)
		return &faultyDirectory{opened, d, at}, nil
	}
}

type faultyDirectory struct {
	directory
	disk *FaultyDisk
	at   string
}

func (d *faultyDirectory) path(name string) string { return path.Join(d.at, name) }

func (d *faultyDirectory) OpenDirectory(name string) (directory, error) {
	return faulty(d.disk, "opendir", d.path(name), d.disk.opener(d.path(name), func() (directory, error) {
		return d.directory.OpenDirectory(name)
	}))
}

func (d *faultyDirectory) OpenFile(name string, flag int, mode fs.FileMode) (openFile, error) {
	return faulty(d.disk, "open", d.path(name), func() (openFile, error) {
		opened, err := d.directory.OpenFile(name, flag, mode)
		if err != nil {
			return nil, err
		}
		d.disk.opened(+1)
		return &faultyFile{openFile: opened, disk: d.disk, at: d.path(name)}, nil
	})
}

func (d *faultyDirectory) Lstat(name string) (fs.FileInfo, error) {
	return faulty(d.disk, "lstat", d.path(name), func() (fs.FileInfo, error) { return d.directory.Lstat(name) })
}

func (d *faultyDirectory) Mkdir(name string, mode fs.FileMode) error {
	return faultyError(d.disk, "mkdir", d.path(name), func() error { return d.directory.Mkdir(name, mode) })
}

func (d *faultyDirectory) Rename(oldName, newName string) error {
	return faultyError(d.disk, "rename", d.path(newName), func() error { return d.directory.Rename(oldName, newName) })
}

func (d *faultyDirectory) Remove(name string) error {
	return faultyError(d.disk, "remove", d.path(name), func() error { return d.directory.Remove(name) })
}

func (d *faultyDirectory) Chtimes(name string, accessed, modified time.Time) error {
	return faultyError(d.disk, "chtimes", d.path(name), func() error { return d.directory.Chtimes(name, accessed, modified) })
}

func (d *faultyDirectory) Stat() (fs.FileInfo, error) {
	return faulty(d.disk, "lstat", d.path("."), d.directory.Stat)
}

func (d *faultyDirectory) Sync() error {
	return faultyError(d.disk, "sync", d.path("."), d.directory.Sync)
}

// Close always closes the directory: a leak caused by the test would prove nothing.
func (d *faultyDirectory) Close() error {
	d.disk.opened(-1)
	closed := d.directory.Close()
	return cmp.Or(closed, faultyError(d.disk, "closedir", d.at, func() error { return nil }))
}

type faultyFile struct {
	openFile
	disk   *FaultyDisk
	at     string
	synced bool
}

func (f *faultyFile) Read(into []byte) (int, error) {
	return faulty(f.disk, "read", f.at, func() (int, error) { return f.openFile.Read(into) })
}

// Write writes half of the bytes if it fails.
func (f *faultyFile) Write(from []byte) (int, error) {
	fault := f.disk.next("write", f.at)
	if fault.Err != nil && !fault.After {
		from = from[:len(from)/2]
	}
	n, err := f.openFile.Write(from)
	if fault.Err != nil {
		err = &fs.PathError{Op: "write", Path: path.Base(f.at), Err: fault.Err}
	}
	return n, err
}

// Fd is called to lock the file. It returns an invalid descriptor if that is to fail.
func (f *faultyFile) Fd() uintptr {
	if fault := f.disk.next("flock", f.at); fault.Err != nil {
		return ^uintptr(0)
	}
	return f.openFile.Fd()
}

func (f *faultyFile) Readdirnames(n int) ([]string, error) {
	return faulty(f.disk, "readdir", f.at, func() ([]string, error) { return f.openFile.Readdirnames(n) })
}

func (f *faultyFile) Stat() (fs.FileInfo, error) {
	return faulty(f.disk, "stat", f.at, f.openFile.Stat)
}

func (f *faultyFile) Sync() error {
	f.synced = true
	return faultyError(f.disk, "sync", f.at, f.openFile.Sync)
}

// Close always closes the file.
func (f *faultyFile) Close() error {
	what := "close"
	if f.synced {
		what = "close synced"
	}
	f.disk.opened(-1)
	closed := f.openFile.Close()
	return cmp.Or(closed, faultyError(f.disk, what, f.at, func() error { return nil }))
}
