package testenv

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BTCD returns the path of a btcd node, built from the version that the module
// interop/btcd names: a module of its own, so that ours does not have what a
// node needs.
func BTCD(t testing.TB) string {
	t.Helper()
	Slow(t)
	binary := filepath.Join(t.TempDir(), "btcd")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/btcsuite/btcd")
	build.Dir = filepath.Join(Root(), "interop", "btcd")
	if out, err := build.CombinedOutput(); err != nil {
		leaveOut(t, "btcd cannot be built, is its module to be had? "+err.Error()+"\n"+string(out))
	}
	return binary
}
