package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// EmptyRoot returns a command that runs a static program in a root directory
// which has nothing but it and an empty /tmp. Without the right to change the
// root, it takes a user namespace for that; the test is left out where there is
// none to be had.
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
		leaveOut(t, "the root directory cannot be changed here: "+err.Error())
	}
	return inRoot(args...)
}
