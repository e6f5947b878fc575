package keys_test

import (
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestListTable: on a terminal, keys list prints a table with the usual address of each key, no
// wider than the window, or JSON with --json.
func TestListTable(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must([]byte("test test test test test test test test test test test junk\n"), "keys", "import", "--format", "mnemonic", "--name", "hd")
	s.Must(nil, "keys", "disable", clitest.SeedID)
	screen := screenOf(t, s.Command("keys", "list"))
	for _, row := range []string{
		`NAME +CURVE +ADDRESS\n {4}PATH +ID +STATE`,
		`vectors +secp256k1 +` + clitest.Address + `\n {4}- +` + clitest.KeyID,
		`hd +secp256k1 +T[1-9A-Za-z]{33}\n {4}m/44'/195'/0'/0/0 +[0-9a-f-]{36}`,
		`hd +secp256k1 +bc1q[0-9a-z]{38}\n {4}m/84'/0'/0'/0/0 +[0-9a-f-]{36}`,
		`WALLET +ACCOUNTS +ID`, `hd +7 +[0-9a-f-]{36}`,
		`- +ed25519 +[1-9A-Za-z]{43,44}\n {4}- +` + clitest.SeedID + ` +disabled`,
	} {
		if !regexp.MustCompile(`(?m)^` + row + `$`).MatchString(screen) {
			t.Errorf("no row %s in\n%s", row, screen)
		}
	}
	for line := range strings.Lines(screen) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 { // as openTerminal makes the window
			t.Errorf("wider than the window: %q", line)
		}
	}
	if screen := screenOf(t, s.Command("keys", "list", "--json")); strings.Count(screen, `{"privateKeyId"`) != 9 {
		t.Errorf("--json:\n%s", screen)
	}
}

// TestImportedTable: on a terminal, keys import prints what keys list and keys show print there.
func TestImportedTable(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	for secret, row := range map[string]string{
		"mnemonic test test test test test test test test test test test junk": `hd +secp256k1 +0x[0-9a-fA-F]{40}`,
		"hex 4646464646464646464646464646464646464646464646464646464646464646": `name +hd`,
	} {
		format, text, _ := strings.Cut(secret, " ")
		args := []string{"keys", "import", "--format", format, "--name", "hd"}
		if format == "hex" {
			args = append(args, "--curve", "secp256k1")
		}
		command := s.Command(args...)
		command.Stdin = strings.NewReader(text + "\n")
		if screen := screenOf(t, command); strings.Contains(screen, "{") || !regexp.MustCompile(`(?m)^`+row).MatchString(screen) {
			t.Errorf("%s:\n%s", format, screen)
		}
	}
}

// screenOf returns the output of a command on a terminal. The command must succeed.
func screenOf(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	people, tty := clitest.OpenTerminal(t)
	command.Stdout, command.Stderr = tty, tty
	testenv.Must(t, command.Start())
	_ = tty.Close()
	screen, _ := io.ReadAll(people) // it ends with EIO
	if err := command.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	return strings.ReplaceAll(string(screen), "\r", "")
}

// TestDeleteAsks: a key is deleted only after confirmation.
func TestDeleteAsks(t *testing.T) {
	t.Parallel()
	for answer, deleted := range map[string]bool{"n": false, "": false, "y": true} {
		s := clitest.NewSession(t)
		p := clitest.Sit(t, s.Command("keys", "delete", clitest.KeyID))
		p.Sees(`Delete "` + clitest.KeyID + `"? An encrypted copy is kept. [y/N] `)
		p.Types(answer + "\n")
		if status := p.Ends(); (status == console.ExitSuccess) != deleted {
			t.Errorf("%q: exit status %d\n%s", answer, status, p.Shown())
		}
		if _, _, status := s.Run(nil, "keys", "show", clitest.KeyID); (status != console.ExitSuccess) != deleted {
			t.Errorf("%q: keys show exits %d", answer, status)
		}
	}
}
