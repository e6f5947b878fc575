package chains_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// decodingTables are the tables that decide how transactions and messages are read, as the
// tests of their packages write them.
var decodingTables = []string{
	"../internal/evm/testdata/functions.txt",
	"../internal/evm/testdata/contracts.txt",
	"../internal/evm/testdata/tempo.txt",
	"../internal/messages/structures/testdata/types.txt",
	"tron/testdata/kinds.txt",
	"solana/testdata/kinds.txt",
	"solana/testdata/unspendable.txt",
}

// TestTablesHaveAVersion checks that the version in a summary rises whenever a decoding table
// changes: machines with other tables then report another version, and not another
// transaction. testdata/tables.txt has the hash of the tables of each version, to which
// COUNTERSIGN_UPDATE=1 appends a new one.
func TestTablesHaveAVersion(t *testing.T) {
	form := testenv.Encode(t, chains.Summary{})
	var summary struct{ Tables int }
	testenv.JSON(t, form, &summary)
	hash := sha256.New()
	fmt.Fprintln(hash, chains.Kinds())
	for _, path := range decodingTables {
		table := testenv.Read(t, path)
		fmt.Fprintf(hash, "%s %d\n%s", filepath.ToSlash(path), len(table), table)
	}
	want := fmt.Sprintf("%d %x", summary.Tables, hash.Sum(nil))
	const path = "testdata/tables.txt"
	committed := testenv.Read(t, path)
	lines := strings.Split(strings.TrimSpace(string(committed)), "\n")
	var version int
	var last string
	if _, err := fmt.Sscan(lines[len(lines)-1], &version, &last); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" && summary.Tables == version+1 {
		testenv.Write(t, path, append(committed, want+"\n"...))
		return
	}
	switch recorded := lines[len(lines)-1] == want; {
	case !recorded && summary.Tables == version:
		t.Errorf("the decoding tables changed: raise summaryTables in summary.go to %d, and run this test with COUNTERSIGN_UPDATE=1", version+1)
	case !recorded:
		t.Errorf("summaryTables is %d, after %d: run this test with COUNTERSIGN_UPDATE=1, once for each change of the tables", summary.Tables, version)
	}
}
