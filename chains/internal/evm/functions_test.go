package evm

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFunctionTable writes down the functions of contracts that are decoded, and
// where: testdata/functions.txt, which COUNTERSIGN_UPDATE=1 writes and
// docs/effects.md repeats.
func TestFunctionTable(t *testing.T) {
	var table strings.Builder
	for _, row := range standards {
		place := string(row.where)
		switch row.where {
		case atAny:
			place = "any address"
		case asClaimed:
			place = "any address, and a blind call besides"
		}
		fmt.Fprintf(&table, "%-22s %-38s %s\n", row.standard, place, parseFunction(row.standard, row.function).signature)
	}
	const path = "testdata/functions.txt"
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if table.String() != string(want) {
		t.Errorf("%s differs:\n%s", path, table.String())
	}
}
