//go:build unix

package testenv

import (
	"os/exec"
	"syscall"
)

// runAs has a command run as another user.
func runAs(command *exec.Cmd, uid, gid int) {
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
