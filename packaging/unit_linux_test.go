package packaging_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestUnit checks that systemd understands every line of the unit, and rates its exposure at
// most 1.2 of 10, as docs/operations.md says.
func TestUnit(t *testing.T) {
	analyze := testenv.Tool(t, "systemd-analyze")
	unit, err := os.ReadFile("countersign.service")
	testenv.Must(t, err)
	const installed = "/usr/local/bin/countersign "
	if !bytes.Contains(unit, []byte("ExecStart="+installed+"serve --config ")) {
		t.Fatal("the unit does not start what is documented")
	}
	// The binary need not be installed here; systemd-analyze is.
	unit = bytes.Replace(unit, []byte(installed), []byte(analyze+" "), 1)
	path := filepath.Join(t.TempDir(), "countersign.service")
	testenv.Must(t, os.WriteFile(path, unit, 0o644))
	for _, args := range [][]string{
		{"verify", "--man=no", path},
		{"security", "--offline=true", "--threshold=12", path},
	} {
		out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
		if err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}
