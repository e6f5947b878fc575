package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
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
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", command.Process.Pid))
	if err != nil || !regexp.MustCompile(`(?m)^Max core file size +0 +0 `).Match(limits) {
		t.Errorf("core dumps are on: %v\n%s", err, limits)
	}
	in.Close()
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}
