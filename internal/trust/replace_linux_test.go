package trust_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/trust"
)

// TestReplace replaces a file and a link, and fails to replace a folder: nothing else is left.
func TestReplace(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	testenv.Write(t, at("old"), []byte("old"))
	testenv.Must(t, os.Symlink("old", at("link")))
	testenv.Must(t, os.MkdirAll(at("folder/inside"), 0o700))
	for _, name := range []string{"link", "new", "old"} {
		testenv.Must(t, trust.Replace(at(name), []byte("content of "+name)))
		info, err := os.Lstat(at(name))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want a file for its owner alone", name, info.Mode(), err)
		}
	}
	for _, name := range []string{"folder", "none/file"} {
		if err := trust.Replace(at(name), nil); err == nil {
			t.Errorf("%s was replaced", name)
		}
	}
	for _, name := range []string{"link", "new", "old"} {
		if content, err := os.ReadFile(at(name)); err != nil || string(content) != "content of "+name {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 4 {
		t.Errorf("%v, %v, want 4 entries", entries, err)
	}
}

// TestReplaceKept keeps the owner of a file that root replaces, and makes no file.
func TestReplaceKept(t *testing.T) {
	const service = 65534
	path := filepath.Join(t.TempDir(), "passphrase")
	if err := trust.ReplaceKept(path, []byte("new"), nil); err == nil {
		t.Error("a file that was not there was made")
	}
	testenv.Write(t, path, []byte("old"))
	owner := os.Getuid()
	if owner == 0 {
		owner = service
		testenv.Must(t, os.Chown(path, service, service))
	}
	testenv.Must(t, trust.ReplaceKept(path, []byte("new"), nil))
	info, err := os.Stat(path)
	testenv.Must(t, err)
	if got := int(info.Sys().(*syscall.Stat_t).Uid); got != owner || info.Mode().Perm() != 0o600 {
		t.Errorf("owner %d, mode %v, want %d and 0600", got, info.Mode(), owner)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "new" {
		t.Errorf("%q, %v", content, err)
	}
}
