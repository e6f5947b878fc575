package config

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead checks that no text makes Read panic or hang, and that a returned configuration is
// valid. It is here because package fuzz cannot import this one.
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
			t.Errorf("%q was accepted, but %v", text, config.check())
		}
	})
}
