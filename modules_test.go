package countersign_test

import (
	"os/exec"
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

	// Addresses of Bitcoin.
	"github.com/btcsuite/btcd/btcec/v2":     "points and signatures of Bitcoin",
	"github.com/btcsuite/btcd/address/v2":   "hash160",
	"github.com/btcsuite/btcd/wire/v2":      "used by txscript",
	"github.com/btcsuite/btcd/chaincfg/v2":  "used by address and txscript",
	"github.com/btcsuite/btcd/chainhash/v2": "used by btcec and wire",

	// Pure Go secp256k1 in constant time: BIP-340, and all signatures without cgo.
	"gitlab.com/yawning/secp256k1-voi": "BIP-340; ECDSA without cgo",
	"gitlab.com/yawning/tuplehash":     "used by secp256k1-voi",

	// RFC 6979, and points of Bitcoin.
	"github.com/decred/dcrd/dcrec/secp256k1/v4": "below btcec; nonces of RFC 6979",

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

// modulesOf lists the third-party modules that packages are built from.
func modulesOf(t *testing.T, cgo string, packages ...string) []string {
	t.Helper()
	args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, packages...)
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = testenv.Root()
	command.Env = append(command.Environ(), "CGO_ENABLED="+cgo)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	modules = slices.Compact(modules)
	return slices.DeleteFunc(modules, func(path string) bool { return path == "github.com/countersign-dev/countersign" })
}

// maxLinkedPackages is how many packages outside the standard library such a program
// links, this module's included.
const maxLinkedPackages = 112

// TestLinkedPackages holds that bound.
func TestLinkedPackages(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".", "./keystore/memory", "./chains/ethereum")
	command.Dir = testenv.Root()
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if linked := strings.Fields(string(out)); len(linked) > maxLinkedPackages {
		t.Errorf("%d packages are linked: %s", len(linked), strings.Join(linked, " "))
	}
}
