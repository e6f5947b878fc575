//go:build cgo

package serve_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// newServedHSM is newServed with a token behind the fault proxy.
func newServedHSM(t *testing.T) (*clitest.Served, *faultproxy.Proxy, testenv.Token, string) {
	t.Helper()
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	s := clitest.NewServed(t)
	pin := filepath.Join(s.Dir, "pin")
	clitest.WritePrivate(t, pin, token.PIN+"\n")
	uri := token.URI(proxy.Module) + "&pin-source=file:" + pin
	s.Edit(t, "keystore: file:keys", `keystore: "`+uri+`"`)
	s.Edit(t, "passphraseFile: passphrase\n", "")
	return s, proxy, token, pin
}

// TestRefusedPIN checks that serve exits with a status of its own if the HSM refuses the PIN,
// that the systemd unit does not restart it then, and that a restart does not try the PIN
// again.
func TestRefusedPIN(t *testing.T) {
	s, proxy, _, pin := newServedHSM(t)
	clitest.WritePrivate(t, pin, "a wrong PIN\n")
	for start := range 4 {
		var stderr bytes.Buffer
		command := exec.CommandContext(t.Context(), "countersign", "serve", "--config", s.Config(), "--listen", "127.0.0.1:0", "--admin", "none")
		command.Stderr = &stderr
		_ = command.Run()
		if status := command.ProcessState.ExitCode(); status != console.ExitLogin || !strings.Contains(stderr.String(), "login refused") {
			t.Errorf("start %d: exit status %d: %s", start, status, &stderr)
		}
	}
	if proxy.Logins() != 1 {
		t.Errorf("the PIN was tried %d times in 4 starts, want once", proxy.Logins())
	}
	unit, err := os.ReadFile(filepath.Join(testenv.Root(), "packaging", "countersign.service"))
	if err != nil || !bytes.Contains(unit, fmt.Appendf(nil, "RestartPreventExitStatus=2 %d\n", console.ExitLogin)) {
		t.Errorf("the systemd unit restarts after exit status %d: %v", console.ExitLogin, err)
	}
}

// TestReadyWithoutToken checks that /readyz reports when the HSM is gone, and when it is back.
func TestReadyWithoutToken(t *testing.T) {
	s, proxy, _, _ := newServedHSM(t)
	admin := testenv.FreeAddress(t)
	n := s.Start(t, "--admin", admin)
	ready := func() int {
		status, _ := clitest.Get(t, "http://"+admin+"/readyz")
		return status
	}
	if status := ready(); status != http.StatusOK {
		t.Errorf("with the token: %d", status)
	}
	proxy.Remove()
	if status := ready(); status != http.StatusServiceUnavailable {
		t.Errorf("without the token: %d", status)
	}
	proxy.Insert()
	if status := ready(); status != http.StatusOK {
		t.Errorf("with the token again: %d", status)
	}
	if status := n.End(t, os.Interrupt); status != console.ExitSuccess {
		t.Errorf("exit status %d", status)
	}
}

// TestExtractableKey checks that an extractable key of the HSM is used, logged and counted.
func TestExtractableKey(t *testing.T) {
	s, proxy, token, _ := newServedHSM(t)
	tool := exec.CommandContext(t.Context(), testenv.Tool(t, "pkcs11-tool"), "--module", proxy.Module, "--token-label", token.Label,
		"--login", "--pin", token.PIN, "--keypairgen", "--key-type", "EC:secp256k1", "--id", "01",
		"--label", s.By.OrganizationID+"/loose", "--extractable")
	if out, err := tool.CombinedOutput(); err != nil {
		t.Fatalf("pkcs11-tool: %v\n%s", err, out)
	}
	admin := testenv.FreeAddress(t)
	n := s.Start(t, "--admin", admin)
	if _, text := clitest.Get(t, "http://"+admin+"/metrics"); !strings.Contains(text, "\ncountersign_extractable_keys 1\n") {
		t.Error("it is not counted")
	}
	if status := n.End(t, os.Interrupt); status != console.ExitSuccess {
		t.Errorf("exit status %d", status)
	}
	if text := n.Log.String(); !strings.Contains(text, "key is extractable from the token") || !strings.Contains(text, "loose") {
		t.Errorf("it is not in the log:\n%s", text)
	}
}
