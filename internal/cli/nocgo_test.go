//go:build !cgo

package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/cli/console"
)

// TestHSMWithoutCgo: without cgo, the command says how to build one that supports HSMs.
func TestHSMWithoutCgo(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := cli.Main([]string{"keys", "list", "--keystore", "pkcs11:token=a?module-path=/nowhere.so&pin-source=/nowhere"}, strings.NewReader(""), &stdout, &stderr, nil)
	if status != console.ExitFailure || !strings.Contains(stderr.String(), "CGO_ENABLED=1") {
		t.Errorf("exit status %d: %s", status, &stderr)
	}
}
