package countersign_test

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// linkedModules are the modules, and why, that a program links if it signs Ethereum's
// transactions with the root package and keys in memory. Each one needs a reason here.
var linkedModules = map[string]string{
	"github.com/ethereum/go-ethereum": "secp256k1 (libsecp256k1 with cgo), Keccak, RLP, KZG proofs",
	"github.com/holiman/uint256":      "integers of 256 bits, as Ethereum's fields are",

	// KZG proofs of blobs (EIP-4844), below go-ethereum's crypto/kzg4844.
	"github.com/crate-crypto/go-eth-kzg": "the proofs",
	"github.com/consensys/gnark-crypto":  "their curve, BLS12-381",
	"github.com/bits-and-blooms/bitset":  "used by gnark-crypto",
	"golang.org/x/sync":                  "used by go-eth-kzg",

	"github.com/btcsuite/btcd/address/v2": "base58, in which Tron writes addresses in typed data",

	// Pure Go secp256k1 in constant time: BIP-340, and all signatures without cgo.
	"gitlab.com/yawning/secp256k1-voi": "BIP-340; ECDSA without cgo",
	"gitlab.com/yawning/tuplehash":     "used by secp256k1-voi",

	// RFC 6979, and points of Bitcoin.
	"github.com/decred/dcrd/dcrec/secp256k1/v4": "nonces of RFC 6979",

	// Ed25519 with secrets outside the Go heap, which crypto/ed25519 does not support.
	"github.com/oasisprotocol/curve25519-voi": "Ed25519",

	"github.com/go-json-experiment/json": "JSON of typed data, with positions",

	// Requests with a stamp.
	"github.com/fxamacker/cbor/v2": "COSE keys of passkeys",
	"github.com/x448/float16":      "used by cbor",

	"golang.org/x/mod": "the tree and the signed notes of the log",

	"github.com/google/uuid": "ids of keys, activities and one-time passwords",
	"golang.org/x/crypto":    "RIPEMD-160 and SHA-3, for btcd",
	"golang.org/x/sys":       "locked memory for secrets; CPU features for hashes",
}

// TestLinkedModules compares the linked modules with the list, with and without cgo.
// There must be no database driver or encoding, logging framework, PKCS#11, Prometheus
// or command-line framework among them.
func TestLinkedModules(t *testing.T) {
	linked := map[string]bool{}
	for _, cgo := range []string{"0", "1"} {
		for _, module := range modulesOf(t, cgo, ".", "./keystore/memory", "./chains/ethereum") {
			linked[module] = true
			if linkedModules[module] == "" {
				t.Errorf("CGO_ENABLED=%s: %s is linked, and linkedModules does not say why", cgo, module)
			}
		}
	}
	for module := range linkedModules {
		if !linked[module] {
			t.Errorf("%s is not linked any more: take it off the list", module)
		}
	}
}

// TestClientLinks lists everything outside the standard library that a program links if it
// submits requests with package client: no keystore, no engine, and no curve but those of
// the standard library.
func TestClientLinks(t *testing.T) {
	want := []string{
		"github.com/countersign-dev/countersign/activity",
		"github.com/countersign-dev/countersign/client",
		"github.com/countersign-dev/countersign/internal/plaintext",
		"github.com/countersign-dev/countersign/internal/secret",
		"github.com/countersign-dev/countersign/internal/strictjson",
		"github.com/countersign-dev/countersign/stamp/signer",
		"github.com/go-json-experiment/json/internal",
		"github.com/go-json-experiment/json/internal/jsonflags",
		"github.com/go-json-experiment/json/internal/jsonopts",
		"github.com/go-json-experiment/json/internal/jsonwire",
		"github.com/go-json-experiment/json/jsontext",
	}
	for _, cgo := range []string{"0", "1"} {
		if linked := listed(t, cgo, "{{if .Module}}{{.ImportPath}}{{end}}", "./client"); !slices.Equal(linked, want) {
			t.Errorf("CGO_ENABLED=%s: package client links\n\t%s\nwant\n\t%s", cgo, strings.Join(linked, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
}

// TestPrograms: this module has the command and the programs that the documentation explains.
// Those for maintainers have modules of their own, so that what they need is not required of
// those who embed the engine.
func TestPrograms(t *testing.T) {
	const module = "github.com/countersign-dev/countersign/"
	want := []string{module + "cmd/countersign", module + "docs/first", module + "docs/payouts", module + "docs/server"}
	if programs := listed(t, "0", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./..."); !slices.Equal(programs, want) {
		t.Errorf("programs %v, want %v", programs, want)
	}
}

// vendors begin the paths of the modules that package keystore/kms needs for key services.
var vendors = []string{"github.com/aws/", "cloud.google.com/go/kms ", "github.com/Azure/", "github.com/hashicorp/vault/"}

// TestNoVendors: this module requires nothing of a key service's vendor, at any distance, since
// go.sum has whatever the build may consult. The module keystore/kms requires each of them.
func TestNoVendors(t *testing.T) {
	read := func(path string) string {
		text := testenv.Read(t, filepath.Join(testenv.Root(), path))
		return string(text)
	}
	own, kms := read("go.mod")+read("go.sum"), read("keystore/kms/go.mod")
	for _, vendor := range vendors {
		if strings.Contains(own, vendor) {
			t.Errorf("go.mod or go.sum has %s", vendor)
		}
		if !strings.Contains(kms, vendor) {
			t.Errorf("keystore/kms/go.mod has no %s: take it off the list", vendor)
		}
	}
}

// modulesOf lists the third-party modules that packages are built from.
func modulesOf(t *testing.T, cgo string, packages ...string) []string {
	t.Helper()
	modules := listed(t, cgo, "{{with .Module}}{{.Path}}{{end}}", packages...)
	return slices.DeleteFunc(modules, func(path string) bool { return path == "github.com/countersign-dev/countersign" })
}

// listed returns the lines that 'go list' prints for packages and all that they link, sorted
// and each once.
func listed(t *testing.T, cgo, format string, packages ...string) []string {
	t.Helper()
	args := append([]string{"list", "-deps", "-f", format}, packages...)
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = testenv.Root()
	command.Env = append(command.Environ(), "CGO_ENABLED="+cgo)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	return slices.Compact(lines)
}

// maxLinked is how many packages outside the standard library a program links, this module's
// included, by the packages that it imports: what is chosen is linked, and no other chain.
var maxLinked = map[string]int{
	". ./keystore/memory ./chains/ethereum": 110,
	"./messages ./chains/ethereum":          95,
	"./messages ./chains/solana":            70,
	"./verify":                              65,
}

// TestLinkedPackages holds these bounds.
func TestLinkedPackages(t *testing.T) {
	for packages, most := range maxLinked {
		linked := listed(t, "1", "{{if not .Standard}}{{.ImportPath}}{{end}}", strings.Fields(packages)...)
		if len(linked) > most {
			t.Errorf("%s: %d packages are linked, more than %d: %s", packages, len(linked), most, strings.Join(linked, " "))
		}
	}
}

// unsafeFiles use unsafe, for memory of their own.
var unsafeFiles = []string{
	"internal/faultproxy/faultproxy.go", // a mapped counter that two processes share
	"keystore/pkcs11/module.go",         // the name of a C string
	"keystore/secret.go",                // memory outside the Go heap
}

// TestNoInsides: nothing reads what a module of others keeps to itself. unsafe is for memory of our
// own, and reflection never goes to a member by its name or past its type.
func TestNoInsides(t *testing.T) {
	var found []string
	eachSource(t, func(path string, file *ast.File) {
		for _, imported := range file.Imports {
			if imported.Path.Value == `"unsafe"` {
				found = append(found, path)
			}
		}
		for _, comments := range file.Comments {
			if strings.Contains(comments.List[0].Text, "go:linkname") {
				t.Errorf("%s: go:linkname", path)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if ok && slices.Contains([]string{"FieldByName", "FieldByNameFunc", "UnsafePointer", "UnsafeAddr", "NewAt"}, selector.Sel.Name) {
				t.Errorf("%s: %s", path, selector.Sel.Name)
			}
			return true
		})
	})
	if slices.Sort(found); !slices.Equal(found, unsafeFiles) {
		t.Errorf("unsafe is imported by %q, want %q", found, unsafeFiles)
	}
}

// TestNewActivityType checks that an activity type is a file and a row in package
// activity, and an operation that a program hands to its engine. It builds the engine with
// one more type and submits it: on the wire, in the record, as a repeat and over HTTP.
func TestNewActivityType(t *testing.T) {
	testenv.Slow(t)
	root, err := os.Getwd()
	testenv.Must(t, err)
	files := map[string]string{}
	for at, name := range map[string]string{"activity/echo.go": "activity.go.txt", "echo_operation_test.go": "engine.go.txt", "echo_test.go": "echo_test.go.txt"} {
		files[filepath.Join(root, at)] = filepath.Join(root, "testdata", "newtype", name)
	}
	overlay := testenv.Encode(t, map[string]any{"Replace": files})
	path := filepath.Join(t.TempDir(), "overlay.json")
	testenv.Write(t, path, overlay)
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", path, "-run", "^TestEcho$", "-count=1", "-v", ".").CombinedOutput()
	if err != nil || !regexp.MustCompile(`--- PASS: TestEcho\b`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}
