package harden_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestSignLeavesNoCoreDump checks the limits of a process that holds keys.
func TestSignLeavesNoCoreDump(t *testing.T) {
	s := clitest.NewSession(t)
	command := s.Command("sign", "--jsonl")
	in, out := clitest.StartPiped(t, command)
	if _, err := io.WriteString(in, clitest.IntentLine(clitest.Address, clitest.Unsigned)); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
	mustLeaveNoCoreDump(t, command.Process.Pid)
	in.Close()
	testenv.Must(t, command.Wait())
}

// TestServeLeavesNoCoreDump checks those of a server.
func TestServeLeavesNoCoreDump(t *testing.T) {
	n := clitest.NewServed(t).Start(t, "--admin", "none")
	mustLeaveNoCoreDump(t, n.Command.Process.Pid)
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
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

// TestHardenedBeforeSecrets: imports and exports are hardened before they read the first
// secret, which comes from a pipe that stays empty until then.
func TestHardenedBeforeSecrets(t *testing.T) {
	s := clitest.NewSession(t)
	for name, args := range map[string][]string{
		"import":        {"keys", "import", "--curve", "CURVE_ED25519"},
		"import v3":     {"keys", "import", "--format", "v3", "--secret-password-file", "/dev/stdin"},
		"import words":  {"keys", "import", "--format", "mnemonic"},
		"import xprv":   {"keys", "import", "--format", "xprv"},
		"export to v3":  {"keys", "export", "--format", "v3", "--yes", "--secret-password-file", "/dev/fd/0", "id"},
		"import --dir":  {"keys", "import", "--dir", ".", "--secret-password-file", "/dev/stdin"},
		"import --json": {"keys", "import", "--jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			command := s.Command(args...)
			in, err := command.StdinPipe()
			testenv.Must(t, err)
			testenv.Must(t, command.Start())
			path := fmt.Sprintf("/proc/%d/limits", command.Process.Pid)
			hardened := regexp.MustCompile(`(?m)^Max core file size +0 +0 `)
			testenv.Await(t, "it is hardened", func() bool {
				limits, err := os.ReadFile(path)
				if err != nil {
					t.Fatalf("it ended before it was hardened: %v", err)
				}
				return hardened.Match(limits)
			})
			in.Close()
			_ = command.Wait() // there is no secret
		})
	}
}
