package testenv

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// GoProgram builds a program that is a module of its own, in a folder of this
// project, and returns its path. Its modules come from the module proxy or the
// cache; the test is left out where they cannot be had.
func GoProgram(t testing.TB, folder string) string {
	t.Helper()
	Slow(t)
	source := filepath.Join(Root(), folder)
	download := exec.CommandContext(t.Context(), "go", "mod", "download")
	download.Dir = source
	if out, err := download.CombinedOutput(); err != nil {
		leaveOut(t, "the modules of "+folder+" cannot be downloaded: "+string(out))
	}
	program := filepath.Join(t.TempDir(), "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", folder, err, out)
	}
	return program
}
