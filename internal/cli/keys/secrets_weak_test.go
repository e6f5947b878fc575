package keys_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/keys"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestGuessableSecretWarning: small numbers, repeated bytes and series are imported with a
// warning. Of 100,000 random secrets, none would be warned about.
func TestGuessableSecretWarning(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	s := clitest.NewSession(t)
	for name, secret := range map[string]string{
		"two":           strings.Repeat("0", 63) + "2",
		"a number":      strings.Repeat("0", 48) + "0123456789abcdef",
		"one byte":      strings.Repeat("11", 32),
		"a pattern":     strings.Repeat("deadbeef", 8),
		"a series":      "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		"a series down": "201f1e1d1c1b1a191817161514131211100f0e0d0c0b0a090807060504030201",
	} {
		_, stderr, status := s.Run([]byte(secret), "keys", "import", "--curve", "CURVE_SECP256K1")
		if status != console.ExitSuccess || !bytes.Contains(stderr, []byte("can be guessed")) {
			t.Errorf("%s: exit status %d: %s", name, status, stderr)
		}
		if bytes.Contains(stderr, []byte(secret)) {
			t.Errorf("%s: the secret is printed", name)
		}
	}
	random := make([]byte, 32)
	for range 100_000 {
		_, _ = rand.Read(random)
		if keys.IsGuessable(random) {
			t.Fatalf("%x is taken for a pattern", random)
		}
	}
	if secret, err := hex.DecodeString(clitest.Secret); err != nil || keys.IsGuessable(secret) {
		t.Errorf("the fixture's secret: %v", err)
	}
}

// TestExportFileMode: only the owner can read an exported secret, in a new file and in one
// that the shell created with a permissive umask.
func TestExportFileMode(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		testenv.Must(t, err)
		return info.Mode().Perm()
	}
	s.Must(nil, "keys", "export", "--yes", "--format", "hex", "--out", "secret", clitest.KeyID)
	path := filepath.Join(s.Dir, "secret")
	if content, err := os.ReadFile(path); err != nil || string(content) != clitest.Secret+"\n" || mode(path) != 0o600 {
		t.Errorf("--out: mode %v, %v", mode(path), err)
	}
	if _, stderr, status := s.Run(nil, "keys", "export", "--yes", "--format", "hex", "--out", "secret", clitest.KeyID); status != console.ExitFailure || !bytes.Contains(stderr, []byte("name a new file")) {
		t.Errorf("a file that is there: exit status %d: %s", status, stderr)
	}
	shell := filepath.Join(s.Dir, "shell")
	opened, err := os.OpenFile(shell, os.O_WRONLY|os.O_CREATE, 0o644)
	testenv.Must(t, err)
	defer opened.Close()
	if err := opened.Chmod(0o644); err != nil { // whatever the umask
		t.Fatal(err)
	}
	command := s.Command("keys", "export", "--yes", "--format", "hex", clitest.KeyID)
	command.Stdout = opened
	testenv.Must(t, command.Run())
	if content, err := os.ReadFile(shell); err != nil || string(content) != clitest.Secret+"\n" || mode(shell) != 0o600 {
		t.Errorf("standard output: mode %v, %v", mode(shell), err)
	}
}
