package cli

import (
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/cli/console"
)

// TestListTable: on a terminal, keys list prints a table with the usual address of each key, no
// wider than the window, or JSON with --json.
func TestListTable(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.must([]byte("test test test test test test test test test test test junk\n"), "keys", "import", "--format", "mnemonic", "--name", "hd")
	s.must(nil, "keys", "disable", fixtureSeedID)
	screen := screenOf(t, s.command("keys", "list"))
	for _, row := range []string{
		`NAME +CURVE +ADDRESS\n {4}PATH +ID +STATE`,
		`vectors +secp256k1 +` + fixtureAddress + `\n {4}- +` + fixtureID,
		`hd +secp256k1 +T[1-9A-Za-z]{33}\n {4}m/44'/195'/0'/0/0 +[0-9a-f-]{36}`,
		`hd +secp256k1 +bc1q[0-9a-z]{38}\n {4}m/84'/0'/0'/0/0 +[0-9a-f-]{36}`,
		`WALLET +ACCOUNTS +ID`, `hd +7 +[0-9a-f-]{36}`,
		`- +ed25519 +[1-9A-Za-z]{43,44}\n {4}- +` + fixtureSeedID + ` +disabled`,
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
	if screen := screenOf(t, s.command("keys", "list", "--json")); strings.Count(screen, `{"privateKeyId"`) != 9 {
		t.Errorf("--json:\n%s", screen)
	}
}

// screenOf returns the output of a command on a terminal. The command must succeed.
func screenOf(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	people, tty := openTerminal(t)
	command.Stdout, command.Stderr = tty, tty
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
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
		s := newSession(t)
		p := sit(t, s.command("keys", "delete", fixtureID))
		p.sees(`Delete "` + fixtureID + `"? An encrypted copy is kept. [y/N] `)
		p.types(answer + "\n")
		if status := p.ends(); (status == console.ExitSuccess) != deleted {
			t.Errorf("%q: exit status %d\n%s", answer, status, p.shown())
		}
		if _, _, status := s.run(nil, "keys", "show", fixtureID); (status != console.ExitSuccess) != deleted {
			t.Errorf("%q: keys show exits %d", answer, status)
		}
	}
}
