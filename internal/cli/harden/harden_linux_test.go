package harden_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestNoCoreDumps runs in a process of its own, because hardening cannot be undone.
func TestNoCoreDumps(t *testing.T) {
	const variable = "COUNTERSIGN_TEST_HARDEN"
	if os.Getenv(variable) == "" {
		helper := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoCoreDumps$", "-test.v")
		helper.Env = append(os.Environ(), variable+"=1")
		if out, err := helper.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestNoCoreDumps") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for range 2 {
		testenv.Must(t, harden.NoCoreDumps())
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Cur != 0 || limit.Max != 0 {
		t.Errorf("core limit %+v, %v", limit, err)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("dumpable %d, %v", dumpable, err)
	}
}
