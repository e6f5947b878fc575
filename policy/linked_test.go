package policy_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// maxLinkedPackages is how many packages outside the standard library a program links that judges
// Ethereum by a policy file, this module's included. Most are of CEL.
const maxLinkedPackages = 195

// TestLinkedPackages holds that bound, and that such a program links no other chain.
func TestLinkedPackages(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		".", "./policy", "./keystore/memory", "./chains/ethereum")
	command.Dir = testenv.Root()
	out, err := command.Output()
	testenv.Must(t, err)
	linked := strings.Fields(string(out))
	if len(linked) > maxLinkedPackages {
		t.Errorf("%d packages are linked: %s", len(linked), strings.Join(linked, " "))
	}
	for _, path := range linked {
		if name, ok := strings.CutPrefix(path, "github.com/countersign-dev/countersign/chains/"); ok && name != "ethereum" && name != "names" {
			t.Errorf("%s is linked", path)
		}
	}
}
