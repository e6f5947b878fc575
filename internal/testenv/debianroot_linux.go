package testenv

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// DebianRoot creates a root directory with a minimal Debian, without Go, and returns its path and a
// function that makes a command in it. It needs debootstrap, root, and Debian's archive.
func DebianRoot(t testing.TB) (root string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	Slow(t)
	bootstrap := Tool(t, "debootstrap")
	Superuser(t)
	root = filepath.Join(t.TempDir(), "debian")
	made := exec.CommandContext(t.Context(), bootstrap, "--variant=minbase", "stable", root)
	if out, err := made.CombinedOutput(); err != nil {
		leaveOut(t, "no Debian root can be made: "+string(out[max(0, len(out)-500):]))
	}
	return root, func(args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "chroot", append([]string{root}, args...)...)
	}
}
