package evm

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// notExecuted are functions that are decoded and that no run executes, and why.
var notExecuted = map[string]string{
	"permitForAll(address,address,uint256,uint256,uint8,bytes32,bytes32)": "no published contract has it",
	"transferWithMemo(address,uint256,bytes32)":                           "a precompile of Tempo",
	"transferFromWithMemo(address,address,uint256,bytes32)":               "a precompile of Tempo",
	"multicall(bytes32,bytes[])":                                          "reads the hash of the last block; the rest is as multicall(uint256,bytes[])",
	"approveHash(bytes32)":                                                "approves what is not in the bytes: a blind call",
}

// executed requires that every function of the decoding table is executed, or stands
// in notExecuted.
func executed(t *testing.T, selectors map[string]bool) {
	t.Helper()
	table, err := os.ReadFile(filepath.Join(testenv.Root(), "chains", "internal", "evm", "testdata", "functions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	for _, line := range lines {
		words := strings.Fields(line)
		function := words[len(words)-1]
		switch seen, reason := selectors[selector(function)], notExecuted[function]; {
		case !seen && reason == "":
			t.Errorf("%s is decoded, and not executed", function)
		case seen && reason != "":
			t.Errorf("%s is executed; notExecuted says: %s", function, reason)
		}
	}
	t.Logf("%d functions are decoded, %d of them not executed", len(lines), len(notExecuted))
}

func selector(function string) string {
	return hex.EncodeToString(crypto.Keccak256([]byte(function))[:4])
}
