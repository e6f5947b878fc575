package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"syscall"
	"testing"
)

// TestSignLeavesNoCoreDump looks at the limits of a process that holds keys.
func TestSignLeavesNoCoreDump(t *testing.T) {
	s := newSession(t)
	command := s.command("sign", "--jsonl")
	in, out := pipes(t, command.StdinPipe, command.StdoutPipe)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, intentLine(fixtureAddress, vectorUnsigned)); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
	mustLeaveNoCoreDump(t, command.Process.Pid)
	in.Close()
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServeLeavesNoCoreDump is the same for a server.
func TestServeLeavesNoCoreDump(t *testing.T) {
	n := newServed(t).start(t, "--admin", "none")
	mustLeaveNoCoreDump(t, n.command.Process.Pid)
	if status := n.end(t, syscall.SIGTERM); status != exitSuccess {
		t.Errorf("exit status %d", status)
	}
}

func mustLeaveNoCoreDump(t *testing.T, pid int) {
	t.Helper()
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil || !regexp.MustCompile(`(?m)^Max core file size +0 +0 `).Match(limits) {
		t.Errorf("core dumps are on: %v\n%s", err, limits)
	}
}
