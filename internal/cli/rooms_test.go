package cli_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// shared are the rooms that the rooms of commands may import.
var shared = []string{"console", "show", "deployment", "backup", "config", "harden", "lines", "logmemory", "qrcode", "terminal"}

// TestRooms: a room of commands imports no other one, none has more than 20 files, and main
// has at most 150 lines.
func TestRooms(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{len .GoFiles}} {{join .Imports " "}}`, "./...")
	out, err := command.Output()
	testenv.Must(t, err)
	const own = "github.com/countersign-dev/countersign/internal/cli/"
	rooms := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		room, below := strings.CutPrefix(fields[0], own)
		if files, err := strconv.Atoi(fields[1]); err != nil || files > 20 {
			t.Errorf("%s has %s files", fields[0], fields[1])
		}
		for _, imported := range fields[2:] {
			name, ours := strings.CutPrefix(imported, own)
			if below && ours && room != "clitest" && !slices.Contains(shared, name) {
				t.Errorf("%s imports %s: what two rooms use is in a room below them", room, name)
			}
		}
		rooms++
	}
	if rooms < 15 {
		t.Errorf("%d rooms", rooms)
	}
	program := testenv.Read(t, filepath.Join(testenv.Root(), "cmd", "countersign", "main.go"))
	if lines := bytes.Count(program, []byte("\n")); lines > 150 {
		t.Errorf("main.go has %d lines", lines)
	}
}
