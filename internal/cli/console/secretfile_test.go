//go:build unix

package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestCredential: files whose mode lets others read them are refused, except those that
// systemd created for the service.
func TestCredential(t *testing.T) {
	credentials, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	for path, accepted := range map[string]bool{
		filepath.Join(credentials, "passphrase"):                  true,
		filepath.Join(credentials, "below", "passphrase"):         false,
		filepath.Join(elsewhere, "passphrase"):                    false,
		credentials + "/../" + filepath.Base(elsewhere) + "/more": false,
	} {
		testenv.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testenv.Must(t, os.WriteFile(path, []byte("secret\n"), 0o444))
		secret, err := ReadSecretFile(t.Context(), path)
		if accepted && (err != nil || string(secret) != "secret") {
			t.Errorf("%s: %q, %v", path, secret, err)
		}
		if !accepted && (err == nil || !strings.Contains(err.Error(), "others can read it")) {
			t.Errorf("%s: %q, %v", path, secret, err)
		}
	}
}

// TestCredentialUnset: without an absolute CREDENTIALS_DIRECTORY, no directory is special,
// not even the current one.
func TestCredentialUnset(t *testing.T) {
	for _, dir := range []string{"", ".", "relative"} {
		t.Setenv("CREDENTIALS_DIRECTORY", dir)
		if isCredential("passphrase") || isCredential("relative/passphrase") {
			t.Errorf("CREDENTIALS_DIRECTORY=%q", dir)
		}
	}
}
