//go:build unix

package clitest

import (
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

// MainWith runs the command with a text on standard input.
func MainWith(stdin string, args ...string) (stdout, stderr string, status int) {
	var out, talk strings.Builder
	status = cli.Main(args, strings.NewReader(stdin), &out, &talk, nil)
	return out.String(), talk.String(), status
}

// hurry makes a program built with the race detector exit at once instead of
// after a second.
const hurry = "atexit_sleep_ms=0"

// Main runs the tests of a package, in which the program countersign is this command. countersign-shipped
// has the work factor that users get. A package may add other programs.
func Main(m *testing.M, programs map[string]func()) {
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", hurry)
	}
	all := map[string]func(){"countersign-shipped": Command, workerProgram: work, "countersign": func() {
		if os.Getenv(InScript) != "" {
			_, _ = syscall.Setsid() // away from the terminal that the tests may have
		}
		deployment.NewKeystoreWork = 1
		Command()
	}}
	maps.Copy(all, programs)
	testscript.Main(m, all)
}

// Command is main of the command.
func Command() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, nil)) }

// InScript is set in the environment of the scripts.
const InScript = "COUNTERSIGN_IN_SCRIPT"

// CallIn runs the command in this process and returns its output and exit status.
func CallIn(args ...string) (stdout, stderr string, status int) { return MainWith("", args...) }
