//go:build cgo

package keys_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestImportIntoHSMAsks: a key is imported into an HSM only after confirmation.
func TestImportIntoHSMAsks(t *testing.T) {
	token := testenv.SoftHSM(t)
	pin := filepath.Join(t.TempDir(), "pin")
	testenv.Write(t, pin, []byte(token.PIN+"\n"))
	for _, answer := range []string{"n", "y"} {
		command := exec.CommandContext(t.Context(), "countersign", "keys", "import",
			"--keystore", token.URI(""), "--pin-file", pin, "--curve", "CURVE_SECP256K1")
		var stdout, stderr bytes.Buffer
		command.Stdin, command.Stdout, command.Stderr = strings.NewReader(clitest.Secret), &stdout, &stderr
		p := clitest.Sit(t, command)
		p.Sees("Import into the HSM? Anyone who has a copy can still take what the key holds. [y/N] ")
		p.Types(answer + "\n")
		status := p.Ends()
		if imported := strings.Contains(stdout.String(), clitest.Address); imported != (answer == "y") || imported != (status == console.ExitSuccess) {
			t.Errorf("%q: exit status %d, printed %q; the screen:\n%s", answer, status, &stdout, p.Shown())
		}
		if !strings.Contains(stderr.String(), "CKA_LOCAL is false") {
			t.Errorf("%q: not warned: %s", answer, &stderr)
		}
	}
}
