package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// writeMachine writes what a reader needs to judge the figures below it, as
// configuration lines of the benchmark format.
func writeMachine(w io.Writer) {
	for _, fact := range [][2]string{
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"commit", output("git", "describe", "--always", "--dirty", "--exclude", "*")},
		{"go", runtime.Version()},
		{"cgo", output("go", "env", "CGO_ENABLED")},
		{"cores", fmt.Sprint(runtime.NumCPU())},
		{"memory", memory()},
		{"kernel", output("uname", "-sr")},
		{"node", output("node", "--version")},
		{"load-at-start", firstFields("/proc/loadavg", 3)},
	} {
		if fact[1] != "" {
			fmt.Fprintf(w, "%s: %s\n", fact[0], fact[1])
		}
	}
}

// output is what a command prints, nothing if it cannot be run.
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// memory is the machine's, where /proc tells.
func memory() string {
	fields := strings.Fields(firstFields("/proc/meminfo", 3))
	if len(fields) < 3 {
		return ""
	}
	return strings.Join(fields[1:], " ")
}

func firstFields(path string, count int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(count, len(fields))], " ")
}
