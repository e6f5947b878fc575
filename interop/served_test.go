package interop

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestClientsAndCommand runs the clients against the command as an operator sets it up:
// init, keys import, serve.
func TestClientsAndCommand(t *testing.T) {
	c := newClients(t)
	dir := t.TempDir()
	program := testenv.GoProgram(t, ".", "./cmd/countersign")
	var made struct{ Config, OrganizationID, APIPublicKey, APIPrivateKeyFile string }
	testenv.JSON(t, runProgram(t, "", program, "init", filepath.Join(dir, "made")), &made)
	runProgram(t, enginetest.Secret, program, "keys", "import", "--config", made.Config, "--curve", "CURVE_SECP256K1")
	var key struct{ PrivateKey string }
	content := testenv.Read(t, made.APIPrivateKeyFile)
	testenv.JSON(t, content, &key)
	line := map[string]any{
		"baseUrl": startProgram(t, program, made.Config), "organizationId": made.OrganizationID,
		"apiPublicKey": made.APIPublicKey, "apiPrivateKey": key.PrivateKey,
	}
	for _, client := range signingClients {
		var signed string
		c.value(t, "sign", client, line, &signed)
		if strings.TrimPrefix(signed, "0x") != enginetest.Signed {
			t.Errorf("%s: %s", client, signed)
		}
	}
	if signatures := c.fixture.Signing.Signatures.Load(); signatures != 0 {
		t.Errorf("%d requests went to another server", signatures)
	}
}

// runProgram runs the command without a terminal and returns its output.
func runProgram(t *testing.T, stdin, program string, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stdin, command.Stderr = strings.NewReader(stdin), os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return out
}

// startProgram runs serve until the test ends, and returns the URL.
func startProgram(t *testing.T, program, config string) string {
	t.Helper()
	command := exec.Command(program, "serve", "--config", config, "--listen", "127.0.0.1:0", "--admin", "none", "--log-level", "warn")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	var ready struct{ Listening string }
	testenv.Must(t, json.NewDecoder(out).Decode(&ready))
	return "http://" + ready.Listening
}
