package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestClientVersions checks that rpc.md names the versions of the clients that the tests run.
func TestClientVersions(t *testing.T) {
	page := testenv.Read(t, "rpc.md")
	names := func(what string) {
		if !strings.Contains(string(page), what) {
			t.Errorf("rpc.md does not say %q", what)
		}
	}
	packages := testenv.Read(t, "../interop/package.json")
	var npm struct{ Dependencies map[string]string }
	testenv.JSON(t, packages, &npm)
	names("viem " + npm.Dependencies["viem"])
	names("ethers " + npm.Dependencies["ethers"])
	for module, says := range map[string]string{"../interop/evm/go.mod": "go-ethereum", "../interop/opservice/go.mod": "ethereum-optimism/optimism"} {
		text := testenv.Read(t, module)
		version := regexp.MustCompile(says + ` v([0-9.]+)`).FindSubmatch(text)
		if version == nil {
			t.Fatalf("%s has no %s", module, says)
		}
		if says == "go-ethereum" {
			names("✔ " + string(version[1]) + ", unmodified")
			continue
		}
		names("op-service " + string(version[1]))
	}
}
