package testenv

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// GoProgram builds a Go package in the module of a folder of this project and returns
// the path of the program. Programs are kept in dist/test, so that tests that need the
// same one build it once. The test is skipped if the modules that the program needs
// cannot be downloaded.
func GoProgram(t testing.TB, folder, pkg string) string {
	t.Helper()
	Slow(t)
	source := filepath.Join(Root(), folder)
	download := exec.CommandContext(t.Context(), "go", "mod", "download")
	download.Dir = source
	if out, err := download.CombinedOutput(); err != nil {
		leaveOut(t, "the modules of "+folder+" cannot be downloaded: "+string(out))
	}
	// Per test binary: another package's build must not replace a running program.
	program := filepath.Join(Root(), "dist", "test", filepath.Base(os.Args[0]), filepath.Base(filepath.Join(source, pkg)))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, pkg)
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s in %s: %v\n%s", pkg, folder, err, out)
	}
	return program
}

// Module returns the folder of a Go module at a version, which it downloads if needed.
func Module(t testing.TB, name, version string) string {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", name+"@"+version)
	download.Dir = t.TempDir() // outside of any module
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
