package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/keys"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestSecretsOfFlagsAreUTF8: the file of every flag that names a secret is refused in another encoding than
// UTF-8, with the reason.
func TestSecretsOfFlagsAreUTF8(t *testing.T) {
	calls := map[string][]string{
		"passphrase-file":      {"keys", "list", "--keystore", "file:keys"},
		"new-passphrase-file":  {"keys", "passphrase", "change", "--keystore", "file:keys", "--passphrase-file", "pass"},
		"secret-password-file": {"keys", "import", "--format", "pkcs8", "--curve", "CURVE_ED25519", "--keystore", "file:keys", "--passphrase-file", "pass"},
		"api-key":              {"submit", "--url", "http://127.0.0.1:1"},
		"pin-file":             {"keys", "list", "--keystore", "pkcs11:token=none?module-path=/nowhere.so"},
	}
	for _, command := range available(cli.NewRoot(nil)) {
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if strings.Contains(flag.Usage, "mode 0600") && calls[flag.Name] == nil {
				t.Errorf("%s --%s is not tried", command.CommandPath(), flag.Name)
			}
		})
	}
	s := clitest.NewSession(t)
	const encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGSME4GCSqGSIb3DQEFDTBBMCAGCSsGAQQB2kcECzATBAh5pxEQGINjLQIBEAIB\n" +
		"AQIBATAdBglghkgBZQMEASoEEEFzBCvy+fZZtaj9xOs7XlwEQBOzG0088LhkNQw5\n9IcJUZgXOfQiIYF7Ojg2MEcExmWWi4pItqllnkFCcBjy2OOF6qhl/IdBjmf5siXb\n" +
		"yz7iD5k=\n-----END ENCRYPTED PRIVATE KEY-----\n"
	for flag, args := range calls {
		for encoding, content := range clitest.OtherEncodings([]byte("correct horse battery\n")) {
			clitest.WritePrivate(t, filepath.Join(s.Dir, "other"), content)
			command := exec.CommandContext(t.Context(), "countersign", append(slices.Clone(args), "--"+flag, "other")...)
			command.Dir, command.Stdin = s.Dir, strings.NewReader(encrypted)
			if out, err := command.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("save it as UTF-8")) {
				t.Errorf("--%s in %s: %v: %s", flag, encoding, err, out)
			}
		}
	}
}

// TestImportedSecretsAreUTF8: so is a secret on standard input, in each format, and a file of
// --dir.
func TestImportedSecretsAreUTF8(t *testing.T) {
	s := clitest.NewSession(t)
	for _, format := range keys.ImportFormats {
		for encoding, content := range clitest.OtherEncodings([]byte("[1] abandon 00\n")) {
			args := []string{"keys", "import", "--format", format}
			if format == "hex" {
				args = append(args, "--curve", "CURVE_SECP256K1")
			}
			if _, stderr, status := s.Run([]byte(content), args...); status != console.ExitFailure || !bytes.Contains(stderr, []byte("save it as UTF-8")) {
				t.Errorf("%s in %s: exit status %d: %s", format, encoding, status, stderr)
			}
		}
	}
	dir := filepath.Join(s.Dir, "foreign")
	testenv.Must(t, os.Mkdir(dir, 0o700))
	clitest.WritePrivate(t, filepath.Join(s.Dir, "password"), "pass word\n")
	for encoding, content := range clitest.OtherEncodings([]byte(`{"version":3}`)) {
		clitest.WritePrivate(t, filepath.Join(dir, "UTC--x"), content)
		if stdout, stderr, status := s.Run(nil, "keys", "import", "--format", "v3", "--dir", "foreign", "--secret-password-file", "password"); status != console.ExitFailure || !bytes.Contains(stdout, []byte("save it as UTF-8")) {
			t.Errorf("--dir in %s: exit status %d: %s%s", encoding, status, stdout, stderr)
		}
	}
}
