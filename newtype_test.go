package countersign_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestNewActivityType checks that an activity type is a file and a row in package
// activity, and an operation that a program hands to its engine. It builds the engine with
// one more type and submits it: on the wire, in the record, as a repeat and over HTTP.
func TestNewActivityType(t *testing.T) {
	testenv.Slow(t)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for at, name := range map[string]string{"activity/echo.go": "activity.go.txt", "echo_operation_test.go": "engine.go.txt", "echo_test.go": "echo_test.go.txt"} {
		files[filepath.Join(root, at)] = filepath.Join(root, "testdata", "newtype", name)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", path, "-run", "^TestEcho$", "-count=1", "-v", ".").CombinedOutput()
	if err != nil || !regexp.MustCompile(`--- PASS: TestEcho\b`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}
