package testenv

import (
	"encoding/json"
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

// Module returns the folder of a Go module at a version, downloaded if need be.
func Module(t testing.TB, name, version string) string {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", name+"@"+version)
	download.Dir = t.TempDir() // outside the module: it is none of its own
	out, err := download.Output()
	var module struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err != nil || module.Dir == "" {
		leaveOut(t, name+"@"+version+" cannot be downloaded: "+string(out))
	}
	return module.Dir
}
