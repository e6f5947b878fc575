package docs_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestClientVersions checks that rpc.md names the versions of the clients that the tests run.
func TestClientVersions(t *testing.T) {
	page, err := os.ReadFile("rpc.md")
	if err != nil {
		t.Fatal(err)
	}
	names := func(what string) {
		if !strings.Contains(string(page), what) {
			t.Errorf("rpc.md does not say %q", what)
		}
	}
	packages, err := os.ReadFile("../interop/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var npm struct{ Dependencies map[string]string }
	if err := json.Unmarshal(packages, &npm); err != nil {
		t.Fatal(err)
	}
	names("viem " + npm.Dependencies["viem"])
	names("ethers " + npm.Dependencies["ethers"])
	for module, says := range map[string]string{"../interop/evm/go.mod": "go-ethereum", "../interop/opservice/go.mod": "ethereum-optimism/optimism"} {
		text, err := os.ReadFile(module)
		if err != nil {
			t.Fatal(err)
		}
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
