package trust_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/trust"
)

// TestReplace replaces a file and a link, and fails to replace a folder: nothing else is left.
func TestReplace(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(at("old"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("folder/inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "new", "old"} {
		if err := trust.Replace(at(name), []byte("content of "+name)); err != nil {
			t.Fatal(err)
		}
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
