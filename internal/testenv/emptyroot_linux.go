package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// EmptyRoot returns a command that runs a static program in a root directory that has
// only the program and an empty /tmp. Without root it uses a user namespace; the test is
// skipped if that is not available either.
func EmptyRoot(t testing.TB, program string, args ...string) *exec.Cmd {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "program"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	inRoot := func(args ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), "/program", args...)
		command.Dir, command.Env = "/", []string{} // not even the environment
		command.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
			command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
			command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
			command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
		}
		return command
	}
	if err := inRoot("--help").Run(); os.IsPermission(err) {
		leaveOut(t, "cannot change the root directory: "+err.Error())
	}
	return inRoot(args...)
}
