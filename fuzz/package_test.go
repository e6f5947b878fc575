package fuzz

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/fuzz/internal/corpus"
	"github.com/countersign-dev/countersign/fuzz/internal/harness"
)

// TestHarness builds the program that .clusterfuzzlite/build.sh links with
// libFuzzer, as far as that goes without clang: every target is in it, and runs
// on every one of its seeds in the encoding of libFuzzer.
func TestHarness(t *testing.T) {
	folder, err := os.MkdirTemp(".", "libfuzzer-") // in the module, for its internal packages
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := harness.Write(".", folder); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	program := filepath.Join(out, "seeds")
	command(t, "go", "build", "-o", program, "./"+folder)
	targets, err := harness.Targets(".")
	if err != nil || len(targets) == 0 {
		t.Fatalf("%d targets: %v", len(targets), err)
	}
	if listed := strings.Fields(command(t, program, "-list")); !slices.Equal(listed, targets) {
		t.Errorf("the program has %v\nthe package %v", listed, targets)
	}
	command(t, program, out)
	for _, target := range targets {
		seeds, err := corpus.Read(filepath.Join(out, target+"_seed_corpus"+corpus.Suffix))
		if err != nil || len(seeds) == 0 {
			t.Errorf("%s: %d seeds: %v", target, len(seeds), err)
		}
	}
}

// TestBuildScript has the shell read build.sh without running it.
func TestBuildScript(t *testing.T) {
	command(t, "sh", "-n", "../.clusterfuzzlite/build.sh")
}

// TestArchives: every committed archive belongs to a target.
func TestArchives(t *testing.T) {
	targets, err := harness.Targets(".")
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob("testdata/corpus/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range archives {
		if name, ok := strings.CutSuffix(filepath.Base(archive), corpus.Suffix); !ok || !slices.Contains(targets, name) {
			t.Errorf("%s belongs to no target", archive)
		}
		if info, err := os.Stat(archive); err != nil || info.Size() > corpus.MaxArchive {
			t.Errorf("%s: too large, or %v", archive, err)
		}
	}
}

// command runs a program with cgo, also where these tests run without: a C
// archive needs it.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	run := exec.Command(name, args...)
	run.Env = append(os.Environ(), "CGO_ENABLED=1")
	answer, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, answer)
	}
	return string(answer)
}

// TestTable: the package comment says of every target what it reads.
func TestTable(t *testing.T) {
	targets, err := harness.Targets(".")
	if err != nil {
		t.Fatal(err)
	}
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(comment)) {
		if name, ok := strings.CutPrefix(line, "//\tFuzz"); ok {
			listed = append(listed, "Fuzz"+strings.Fields(name)[0])
		}
	}
	slices.Sort(listed)
	if !slices.Equal(listed, targets) {
		t.Errorf("listed are %v\nthere are  %v", listed, targets)
	}
}
