package docs_test

import (
	"os/exec"
	"regexp"
	"testing"
)

// firstPrints matches what the first program of embedding.md prints.
var firstPrints = regexp.MustCompile(`^ADDRESS_FORMAT_ETHEREUM 0x[0-9a-fA-F]{40}
02f8[0-9a-f]+ <nil>
 the transaction is well-formed but hazardous: ethereum/no-chain-id \(.+\); to sign it all the same, allow ethereum/no-chain-id by name
 ethereum: field 5 \(gas\) at byte 15: integer has a leading zero
$`)

// TestFirst runs the first program.
func TestFirst(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", "./first").CombinedOutput()
	if err != nil || !firstPrints.Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}
