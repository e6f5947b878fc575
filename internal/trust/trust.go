// Package trust checks the owner and the permissions of a file before its content is used: other
// users must not be able to read secrets, or to write files that grant authority.
package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Open opens a file to be read, without waiting for it. It must be a regular file: opening a
// named pipe takes until someone writes to it, and a device need not end.
func Open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it %w: name a regular file", kindOf(info.Mode()))}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func kindOf(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return syscall.EISDIR
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a named pipe")
	}
	return errors.New("is a device")
}

// ReadFile reads a file as Open opens it, of at most limit bytes.
func ReadFile(path string, limit int) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return ReadAll(file, path, limit)
}

// ReadAll reads the whole input, which is called by its name, of at most limit bytes.
func ReadAll(in io.Reader, name string, limit int) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err == nil && len(content) > limit {
		err = fmt.Errorf("%s: longer than %d bytes", name, limit)
	}
	return content, err
}

// Secret checks a regular file that holds a secret, or what only this process may write, such as its
// store: no one else may be able to reach it. It must belong to the user of this process or to root,
// and its mode may give access to no one else but a group of the process that no other user of this
// machine is in: that is how Kubernetes mounts volumes for a container that does not run as root
// (fsGroup). Other files, such as pipes, are not checked.
func Secret(info fs.FileInfo, path string) error {
	mode := info.Mode()
	if !mode.IsRegular() || !permissionsAreReal {
		return nil
	}
	if err := checkOwner(info, path); err != nil {
		return err
	}
	if Private(info) {
		return nil
	}
	return fmt.Errorf("others can read it (mode %04o): %s", mode.Perm(), cure(info, path))
}

// Private reports whether the mode of a file or directory gives access to no one but its owner,
// and a group of the process that no other user is in.
func Private(info fs.FileInfo) bool {
	perm := info.Mode().Perm()
	return !permissionsAreReal || perm&0o077 == 0 || perm&0o007 == 0 && groupIsOurs(info)
}

// cure returns how to take a secret away from others.
func cure(info fs.FileInfo, path string) string {
	uid, _ := owner(info)
	if uid != os.Geteuid() && os.Geteuid() != 0 || isReadOnly(path) {
		return "in Kubernetes set defaultMode: 0440 and fsGroup, in Compose mode: 0440 with the uid or gid of the process; " +
			"elsewhere its owner runs 'chmod 600' where it is mounted from"
	}
	return fmt.Sprintf("run 'chmod 600 %s'", path)
}

// Authority checks a file that determines who may sign, or which library is loaded. It must belong to
// the user of this process or to root, no other user may be able to write it, and its directory must
// not be writable by everyone, unless it is sticky like /tmp.
func Authority(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	path := file.Name()
	if err := checkOwner(info, path); err != nil {
		return err
	}
	if perm := info.Mode().Perm(); (perm&0o002 != 0 || perm&0o020 != 0 && !groupIsOurs(info)) && permissionsAreReal {
		return fmt.Errorf("others can write it (mode %04o): run 'chmod go-w %s', and check that it was not changed", perm, path)
	}
	directory, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	if mode := directory.Mode(); mode.Perm()&0o002 != 0 && mode&fs.ModeSticky == 0 && permissionsAreReal {
		return fmt.Errorf("anyone can replace it (its directory has mode %04o): run 'chmod o-w %s'", mode.Perm(), filepath.Dir(path))
	}
	return nil
}

// OwnDirectory checks that a directory belongs to the user of this process. Its owner could not read
// files added by another user, such as root.
func OwnDirectory(info fs.FileInfo, path string) error {
	uid, known := owner(info)
	if known && uid != os.Geteuid() {
		return fmt.Errorf("%s belongs to %s, and you are %s: its owner could not read files that you write there: "+
			"run this as its owner, with 'sudo -u'", path, userName(uid), userName(os.Geteuid()))
	}
	return nil
}

func checkOwner(info fs.FileInfo, path string) error {
	uid, known := owner(info)
	if known && uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("it belongs to %s, who can change it, and you are %s: run 'chown' on %s, or run this as "+
			"its owner", userName(uid), userName(os.Geteuid()), path)
	}
	return nil
}

// Replace writes a file for its owner alone. It replaces an existing file, or a link, atomically and
// durably: after a crash there is the old or the new content.
func Replace(path string, content []byte) error { return replace(path, content, nil, nil) }

// ReplaceKept is Replace for an existing file, which keeps its owner, its group and its mode: root may
// change the file of a service. check, which may be nil, can refuse the new file before it is in place.
func ReplaceKept(path string, content []byte, check func(path string) error) error {
	replaced, err := os.Stat(path)
	if err != nil {
		return err
	}
	return replace(path, content, replaced, check)
}

// replace sets the owner before the file has its name: a service that owns the folder cannot have
// root give it another file.
func replace(path string, content []byte, replaced fs.FileInfo, check func(path string) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".countersign-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone after the rename
	if replaced != nil {
		err = errors.Join(keepOwner(file, replaced), file.Chmod(replaced.Mode().Perm()))
	}
	if err == nil {
		_, err = file.Write(content)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil && check != nil {
		err = check(file.Name())
	}
	if err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return SyncDirectory(path)
}

// SyncDirectory makes the names in the directory of a path durable, where directories can be synced.
func SyncDirectory(path string) error { return syncDirectory(filepath.Dir(path)) }
