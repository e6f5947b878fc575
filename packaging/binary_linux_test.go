package packaging_test

import (
	"debug/elf"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

var binaryFlag = flag.String("binary", "", "`path` of the release binary; by default one is built")

// binary returns the path of a binary built like a release: without cgo. It is kept in dist/test: the
// next call, or run, links it only if it has changed.
func binary(t *testing.T) string {
	t.Helper()
	if *binaryFlag != "" {
		return *binaryFlag
	}
	path := filepath.Join(testenv.Root(), "dist", "test", filepath.Base(os.Args[0]), "countersign")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../cmd/countersign")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestReleasedBinary checks that the release binary is static, runs in an empty root, and has
// a bill of materials.
func TestReleasedBinary(t *testing.T) {
	testenv.Slow(t)
	path := binary(t)
	t.Run("static", func(t *testing.T) { testStatic(t, path) })
	t.Run("empty root", func(t *testing.T) { testEmptyRoot(t, path) })
	t.Run("bill", func(t *testing.T) { testBill(t, path) })
}

func testStatic(t *testing.T, path string) {
	read, err := elf.Open(path)
	testenv.Must(t, err)
	defer read.Close()
	for _, program := range read.Progs {
		if program.Type == elf.PT_INTERP || program.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a segment %v", program.Type)
		}
	}
}

func testEmptyRoot(t *testing.T, path string) {
	out, err := testenv.EmptyRoot(t, path, "version").Output()
	var version struct {
		Go  string `json:"go"`
		Cgo *bool  `json:"cgo"`
	}
	if err != nil || json.Unmarshal(out, &version) != nil || version.Cgo == nil || *version.Cgo || version.Go == "" {
		t.Errorf("version: %v: %s", err, out)
	}
	out, err = testenv.EmptyRoot(t, path, "demo").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nDone in ") {
		t.Errorf("demo: %v\n%s", err, out)
	}
}
