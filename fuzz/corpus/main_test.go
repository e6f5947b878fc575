package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/fuzz/internal/corpus"
)

// lay writes a file and the folders above it.
func lay(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPackAll(t *testing.T) {
	targets, cache, archives := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "corpus")
	lay(t, filepath.Join(targets, "a_test.go"), "package fuzz\n\nfunc FuzzOne(f *testing.F) {}\n\nfunc FuzzTwo(f *testing.F) {}\n")
	lay(t, filepath.Join(cache, "FuzzOne", "x"), "go test fuzz v1\nstring(\"x\")\n")
	lay(t, filepath.Join(cache, "FuzzNobody", "x"), "go test fuzz v1\nstring(\"x\")\n")
	var said strings.Builder
	if err := packAll(targets, cache, archives, &said); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "FuzzOne") || !strings.Contains(said.String(), "1 entries,    1 of them new") {
		t.Errorf("said %q", said.String())
	}
	files, err := os.ReadDir(archives)
	if err != nil || len(files) != 1 || files[0].Name() != "FuzzOne.zip" {
		t.Fatalf("%v, %v", files, err)
	}

	// The corpus grows: what is gone from the cache stays in the archive.
	if err := os.Rename(filepath.Join(cache, "FuzzOne", "x"), filepath.Join(cache, "x")); err != nil {
		t.Fatal(err)
	}
	lay(t, filepath.Join(cache, "FuzzOne", "y"), "go test fuzz v1\nstring(\"y\")\n")
	if err := packAll(targets, cache, archives, io.Discard); err != nil {
		t.Fatal(err)
	}
	entries, err := corpus.Read(filepath.Join(archives, "FuzzOne.zip"))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"pack", "a", "b"}, {"harness"}, {"unpack"}} {
		if err := run(args, io.Discard); err == nil || err.Error() != usage {
			t.Errorf("%v: %v", args, err)
		}
	}
}
