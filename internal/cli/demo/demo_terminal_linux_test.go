package demo_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestDemoColor: the demo is in color on a terminal, unless NO_COLOR or TERM says
// otherwise. (A script tests that it is not in color in a pipe.)
func TestDemoColor(t *testing.T) {
	t.Parallel()
	for setting, colored := range map[string]bool{"TERM=xterm-256color": true, "NO_COLOR=1": false, "TERM=dumb": false} {
		command := exec.CommandContext(t.Context(), clitest.Shell(t), "-c", "exec countersign demo >&3")
		command.Env = append(os.Environ(), "NO_COLOR=", "TERM=xterm", "TMPDIR="+t.TempDir(), setting)
		p := clitest.Sit(t, command)
		p.Sees("Countersign signs only what it can read")
		p.Sees("With a server of your own")
		if status := p.Ends(); status != console.ExitSuccess {
			t.Errorf("%s: exit status %d", setting, status)
		}
		for _, want := range []string{
			"\x1b[1m1. Ethereum: pay 250 USDC\x1b[0m", "\x1b[1methereum transaction\x1b[0m", "\x1b[2mnonce\x1b[0m ",
			"\x1b[32mchecked", "\x1b[31mrefused",
		} {
			if got := strings.Contains(p.Shown(), want); got != colored {
				t.Errorf("%s: %q is there: %v", setting, want, got)
			}
		}
		if !colored && strings.Contains(p.Shown(), "\x1b") {
			t.Errorf("%s: an escape was written", setting)
		}
	}
}
