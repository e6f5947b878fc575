package config

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead: no text makes the reader panic or hang, and what is taken has been
// checked. It stays here, as fuzz/ cannot import this package.
func FuzzRead(f *testing.F) {
	f.Add([]byte("keystore: file:keys\norganizations: []\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("store: postgres://u:p@h/d\n---\nx: 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "countersign.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		config, err := Read(path)
		if err == nil && config.check() != nil {
			t.Errorf("%q is taken, though %v", text, config.check())
		}
	})
}
