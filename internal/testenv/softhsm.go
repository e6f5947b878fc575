package testenv

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Token is a new, empty token of SoftHSM, in a folder of its own.
type Token struct {
	Module string // path of the PKCS#11 module
	Label  string
	PIN    string
	SOPIN  string
	Config string // value for SOFTHSM2_CONF
}

// URI returns a PKCS#11 URI of the token without the PIN. The module is the token's own
// if module is empty.
func (h Token) URI(module string) string {
	if module == "" {
		module = h.Module
	}
	return fmt.Sprintf("pkcs11:token=%s?module-path=%s", url.PathEscape(h.Label), module)
}

// modulePaths are the places where packages install SoftHSM.
var modulePaths = []string{
	"/usr/lib/softhsm/libsofthsm2.so",
	"/usr/lib/*/softhsm/libsofthsm2.so",
	"/usr/lib64/pkcs11/libsofthsm2.so",
	"/usr/lib64/softhsm/libsofthsm2.so",
	"/usr/local/lib/softhsm/libsofthsm2.so",
	"/opt/homebrew/lib/softhsm/libsofthsm2.so",
}

// SoftHSM creates a token in a temporary folder and sets SOFTHSM2_CONF, so that the test
// cannot run in parallel with others. A process that has loaded the module before still
// sees the old tokens.
func SoftHSM(t testing.TB) Token {
	t.Helper()
	token := SoftHSMIn(t, tokenFolder(t))
	t.Setenv("SOFTHSM2_CONF", token.Config)
	return token
}

// tokenFolder creates a temporary folder. Unlike t.TempDir's, its path does not contain the
// name of the test: SoftHSM's configuration does not support paths with "=".
func tokenFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "softhsm") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// SoftHSMIn creates a token in a folder, for other processes: it does not set
// SOFTHSM2_CONF.
func SoftHSMIn(t testing.TB, folder string) Token {
	t.Helper()
	Slow(t)
	token := Token{
		Module: softHSMModule(t), Label: "countersign test",
		PIN: "a PIN of tests", SOPIN: "a PIN of tests, too",
		Config: filepath.Join(folder, "softhsm2.conf"),
	}
	tokens := filepath.Join(folder, "tokens")
	if err := os.Mkdir(tokens, 0o700); err != nil {
		t.Fatal(err)
	}
	config := "directories.tokendir = " + tokens + "\nlog.level = ERROR\n"
	if err := os.WriteFile(token.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	token.Add(t, token.Label)
	return token
}

// Add creates another token in the same folder, with a label, which may be the same, and
// the same PINs.
func (h Token) Add(t testing.TB, label string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), Tool(t, "softhsm2-util"),
		"--init-token", "--free", "--label", label, "--pin", h.PIN, "--so-pin", h.SOPIN)
	command.Env = append(command.Environ(), "SOFTHSM2_CONF="+h.Config)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("softhsm2-util: %v\n%s", err, out)
	}
}

// GenerateP256 generates a key pair on P-256, as docs/hsm.md says to create that of app proofs.
func (h Token) GenerateP256(t testing.TB, label string, id []byte) {
	t.Helper()
	command := exec.CommandContext(t.Context(), Tool(t, "pkcs11-tool"), "--module", h.Module, "--token-label", h.Label,
		"--login", "--pin", h.PIN, "--keypairgen", "--key-type", "EC:prime256v1", "--label", label,
		"--id", hex.EncodeToString(id))
	command.Env = append(command.Environ(), "SOFTHSM2_CONF="+h.Config)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("pkcs11-tool: %v\n%s", err, out)
	}
}

func softHSMModule(t testing.TB) string {
	t.Helper()
	for _, pattern := range modulePaths {
		if matches, _ := filepath.Glob(pattern); len(matches) > 0 {
			return matches[0]
		}
	}
	leaveOut(t, "SoftHSM is not installed: it is the package softhsm2, or softhsm")
	return ""
}
