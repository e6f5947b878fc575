package keys_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestKeystoreInUse: a keystore that another process has locked can be read. Writing to it
// fails with an error that says so.
func TestKeystoreInUse(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	lock, err := os.OpenFile(filepath.Join(s.Dir, "keys", "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	testenv.Must(t, err)
	testenv.Must(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	generate := []string{"keys", "generate", "--curve", "CURVE_ED25519"}
	if _, stderr, status := s.Run(nil, generate...); status != console.ExitFailure || !strings.Contains(string(stderr), "in use by another process") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	if _, stderr, status := s.Run(nil, "keys", "list"); status != console.ExitSuccess {
		t.Errorf("reading: exit status %d: %s", status, stderr)
	}
	testenv.Must(t, lock.Close())
	if _, stderr, status := s.Run(nil, generate...); status != console.ExitSuccess {
		t.Errorf("afterwards: exit status %d: %s", status, stderr)
	}
}
