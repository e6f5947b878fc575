package evm

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestFunctionTable compares the functions of contracts that are decoded, and where,
// with the commands of a Universal Router and the contracts that take no selector, with
// testdata/functions.txt. COUNTERSIGN_UPDATE=1 writes that file,
// docs/effects.md names it, and interop/evm executes it.
func TestFunctionTable(t *testing.T) {
	var table strings.Builder
	for _, row := range standards {
		place := string(row.at)
		switch row.at {
		case atAny:
			place = "any address"
		case asClaimed:
			place = "any address, plus a blind call"
		}
		fmt.Fprintf(&table, "%-22s %-38s %s\n", row.standard, place, parseFunction(row.standard, row.function).signature)
	}
	for _, encoded := range slices.Sorted(slices.Values(TypedTypes())) {
		f := typedFunctions()[encoded]
		place := "typed data"
		if f.at != atAny && f.at != asClaimed {
			place += ", " + string(f.at)
		}
		fmt.Fprintf(&table, "%-22s %-38s %s\n", f.standard, place, encoded)
	}
	for _, number := range slices.Sorted(maps.Keys(routerCommands)) {
		fmt.Fprintf(&table, "%-22s %-38s %s\n", atUniversalRouter, fmt.Sprintf("command 0x%02x", number), routerCommands[number].signature)
	}
	for _, raw := range plainInputs {
		if raw.requests == "" {
			continue
		}
		fmt.Fprintf(&table, "%-22s %-38s %s\n", "no selector", raw.at, raw.requests)
	}
	const path = "testdata/functions.txt"
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		testenv.Write(t, path, []byte(table.String()))
	}
	want := testenv.Read(t, path)
	if table.String() != string(want) {
		t.Errorf("%s differs:\n%s", path, table.String())
	}
}
