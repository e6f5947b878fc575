package evm

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestContractTable compares the known contracts, those of built-in tokens, and the accounts
// that cannot be spent from, with testdata/contracts.txt, which COUNTERSIGN_UPDATE=1 writes: the summaries of
// transactions depend on it.
func TestContractTable(t *testing.T) {
	var lines []string
	for at, c := range contracts() {
		sets := slices.DeleteFunc(slices.Clone(c.sets), func(set contractSet) bool { return set == atZeroIsCaller })
		lines = append(lines, fmt.Sprintf("%s %s %q zero %v, keeps tokens %v, on %v\n", at, c.name, sets, c.is(atZeroIsCaller),
			!c.isOneOf(sharedPlaces), c.chains))
	}
	for c := range tokenContracts() {
		lines = append(lines, fmt.Sprintf("%s token on %s\n", c.at, c.network))
	}
	for _, u := range unspendables {
		lines = append(lines, fmt.Sprintf("%s unspendable, and %d after it, on %q\n", u.one, u.beside, u.ids))
	}
	slices.Sort(lines)
	table := strings.Join(lines, "")
	const path = "testdata/contracts.txt"
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		testenv.Write(t, path, []byte(table))
	}
	want := testenv.Read(t, path)
	if table != string(want) {
		t.Errorf("%s differs: run the test with COUNTERSIGN_UPDATE=1", path)
	}
}
