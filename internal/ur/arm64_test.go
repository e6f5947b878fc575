package ur

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestVectorsOnARM64 runs the vectors on arm64, whose compiler fuses products and
// sums where a source lets it: fragments would be mixed otherwise than elsewhere.
func TestVectorsOnARM64(t *testing.T) {
	testenv.Slow(t)
	if runtime.GOARCH == "arm64" {
		return // TestVectors has run there
	}
	qemu := testenv.Tool(t, "qemu-aarch64-static")
	binary := filepath.Join(t.TempDir(), "ur.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), qemu, binary, "-test.v", "-test.run", "^(TestVectors|TestPartVectors)$")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
