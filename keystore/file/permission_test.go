//go:build unix

package file_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestNotAFile replaces a key file by something other than a private regular file.
func TestNotAFile(t *testing.T) {
	for name, put := range map[string]func(x attacked, path string) error{
		"link to a key": func(x attacked, path string) error { return os.Symlink(x.path(x.b.ID), path) },
		"link within":   func(x attacked, path string) error { return os.Symlink(x.b.ID+".age", path) },
		"link nowhere":  func(_ attacked, path string) error { return os.Symlink("nowhere", path) },
		"directory":     func(_ attacked, path string) error { return os.Mkdir(path, 0o700) },
		"pipe":          func(_ attacked, path string) error { return syscall.Mkfifo(path, 0o600) },
		"readable by others": func(x attacked, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o604))
		},
		"writable by all": func(x attacked, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o602))
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newAttacked(t)
			testenv.Must(t, os.Remove(x.path(x.a.ID)))
			testenv.Must(t, put(x, x.path(x.a.ID)))
			x.mustRefuse(t, x.a.ID+".age", file.ErrPermissions)
		})
	}
}

// TestNotAKeyFile replaces a key file by a private file of another format.
func TestNotAKeyFile(t *testing.T) {
	for name, content := range map[string][]byte{
		"empty":    {},
		"text":     []byte("not an age file\n"),
		"too long": bytes.Repeat([]byte("age-encryption.org/v1\n"), 2000),
		"stanzas":  []byte("age-encryption.org/v1\n" + strings.Repeat("-> x y\n\n", 100) + "--- " + strings.Repeat("A", 43) + "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			x := newAttacked(t)
			x.write(t, x.a.ID, content)
			x.mustRefuse(t, x.a.ID+".age", file.ErrMalformed)
		})
	}
}

// TestVolumeOfKubernetes opens a keystore with the rights that Kubernetes sets on a volume at
// each mount: for a group of the process (fsGroup), whatever they were.
func TestVolumeOfKubernetes(t *testing.T) {
	x := newAttacked(t)
	group := os.Getegid()
	if groups, err := os.Getgroups(); err == nil && syscall.Setgroups(append(groups, 424242)) == nil {
		group = 424242 // no user has it; root may take it, unless its container forbids that
	}
	err := filepath.WalkDir(x.dir, func(path string, entry fs.DirEntry, err error) error {
		mode := os.FileMode(0o660)
		if entry.IsDir() {
			mode = 0o770 | os.ModeSetgid
		}
		return errors.Join(err, os.Chown(path, -1, group), os.Chmod(path, mode))
	})
	testenv.Must(t, err)
	store, err := file.Open(t.Context(), x.dir, passphrase, fast)
	testenv.Must(t, err)
	testenv.Must(t, store.Close())
}

// TestDirectoryPermissions gives other users access to the directories.
func TestDirectoryPermissions(t *testing.T) {
	for _, sub := range []string{"", "keys"} {
		x := newAttacked(t)
		path := filepath.Join(x.dir, sub)
		testenv.Must(t, os.Chmod(path, 0o705))
		_, err := file.Open(t.Context(), x.dir, passphrase, fast)
		if bad, ok := errors.AsType[*file.Error](err); !ok || bad.Path != path || !errors.Is(err, file.ErrPermissions) {
			t.Errorf("%s accessible to others: %v, want ErrPermissions", path, err)
		}
	}
}

func TestKeysDirectoryIsLink(t *testing.T) {
	x := newAttacked(t)
	keys := filepath.Join(x.dir, "keys")
	testenv.Must(t, errors.Join(os.Rename(keys, keys+"2"), os.Symlink("keys2", keys)))
	if _, err := file.Open(t.Context(), x.dir, passphrase, fast); !errors.Is(err, file.ErrPermissions) {
		t.Errorf("opened with %v, want ErrPermissions", err)
	}
}
