package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// FuzzRead checks that no text makes Read panic or hang, and that a returned configuration is
// valid. It is here because package fuzz cannot import this one.
func FuzzRead(f *testing.F) {
	f.Add([]byte("keystore: file:keys\norganizations: []\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("store: postgres://u:p@h/d\n---\nx: 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "countersign.yaml")
		testenv.Write(t, path, text)
		config, err := Read(path)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path) {
				t.Errorf("%q: the error does not name the file: %v", text, err)
			}
			return
		}
		again := &Config{Path: path}
		if problems := again.decode(text); problems.Failed() || len(config.Organizations) == 0 {
			t.Errorf("%q was accepted, but %v", text, problems)
		}
	})
}
