package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func lay(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const oneTarget = "package fuzz\n\nimport (\n\t\"testing\"\n)\n\nfunc FuzzB(f *testing.F) {}\n\nfunc FuzzA(f *testing.F) {}\n"

func TestWrite(t *testing.T) {
	from, into := t.TempDir(), filepath.Join(t.TempDir(), "harness")
	lay(t, from, "a_test.go", oneTarget)
	lay(t, from, "b_test.go", "package fuzz\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) {}\n")
	if names, err := Targets(from); err != nil || !slices.Equal(names, []string{"FuzzA", "FuzzB"}) {
		t.Errorf("targets %v, %v", names, err)
	}
	if err := Write(from, into); err != nil {
		t.Fatal(err)
	}
	target, err := os.ReadFile(filepath.Join(into, "a_target.go"))
	if err != nil || !strings.HasPrefix(string(target), "package main\n") || !strings.Contains(string(target), "testing \""+Module+"/fuzz/internal/libfuzzer\"") {
		t.Errorf("written %s, %v", target, err)
	}
	if main, err := os.ReadFile(filepath.Join(into, "main.go")); err != nil || !strings.Contains(string(main), `"FuzzA": FuzzA,`) {
		t.Errorf("written %s, %v", main, err)
	}
	if files, err := os.ReadDir(into); err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
}

func TestTestsBesideTargets(t *testing.T) {
	from := t.TempDir()
	lay(t, from, "a_test.go", oneTarget+"\nfunc TestIt(t *testing.T) {}\n")
	if err := Write(from, t.TempDir()); err == nil || !strings.Contains(err.Error(), "FuzzB") {
		t.Errorf("a target beside a test would be left out: %v", err)
	}
}
