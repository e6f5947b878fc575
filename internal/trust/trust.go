// Package trust checks who can read or write a file before its content is believed:
// secrets must not be readable by other users, and what grants authority must not be
// writable by them.
package trust

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Secret checks a regular file that holds a secret: it belongs to the user of this
// process or to root, and no other user can read it. A file that its owner cannot write
// either may be readable by a group that the process is in: so does Kubernetes mount
// secrets for a container that does not run as root (mode 0440 by fsGroup). What is not a
// regular file, such as a pipe, is not checked.
func Secret(info fs.FileInfo, path string) error {
	mode := info.Mode()
	if !mode.IsRegular() {
		return nil
	}
	if err := checkOwner(info, path); err != nil {
		return err
	}
	switch perm := mode.Perm(); {
	case perm&0o077 == 0:
		return nil
	case perm&^0o440 == 0 && inOurGroups(info):
		return nil
	default:
		return fmt.Errorf("others can read it (mode %04o): run 'chmod 600 %s'", perm, path)
	}
}

// Authority checks a file that says who may sign, or which library is loaded: it belongs
// to the user of this process or to root, and neither it nor its directory can be
// written by other users.
func Authority(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	path := file.Name()
	if err := checkOwner(info, path); err != nil {
		return err
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 && permissionsAreReal {
		return fmt.Errorf("others can write it (mode %04o): run 'chmod go-w %s', and look whether it is still yours", perm, path)
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

// OwnDirectory checks that a directory belongs to the user of this process: files that
// another user, such as root, adds could not be read by the one who needs them.
func OwnDirectory(info fs.FileInfo, path string) error {
	uid, known := owner(info)
	if known && uid != os.Geteuid() {
		return fmt.Errorf("%s belongs to %s and you are %s: what you write there its owner could not read: run this as its owner, with 'sudo -u'", path, userName(uid), userName(os.Geteuid()))
	}
	return nil
}

func checkOwner(info fs.FileInfo, path string) error {
	uid, known := owner(info)
	if known && uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("it belongs to %s, who can change it, and you are %s: run 'chown' on %s, or run this as its owner", userName(uid), userName(os.Geteuid()), path)
	}
	return nil
}
