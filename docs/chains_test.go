package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// siblings are the files that adding-a-chain.md says every chain has.
var siblings = []string{
	"chain.go", "transaction.go", "sign.go", "effects.go", "hazard.go", "summary.go",
	"vectors_test.go", "refuse_test.go", "hazard_test.go", "mutation_test.go", "summary_test.go", "example_test.go",
}

// TestSiblings checks that every chain and the document have them.
func TestSiblings(t *testing.T) {
	document := read(t, "adding-a-chain.md")
	for _, kind := range all.TransactionTypes() {
		chain := strings.ToLower(strings.TrimPrefix(string(kind), "TRANSACTION_TYPE_"))
		for _, name := range siblings {
			if _, err := os.Stat(filepath.Join("../chains", chain, name)); err != nil {
				t.Error(err)
			}
			if !strings.Contains(document, "`"+name+"`") {
				t.Errorf("the document does not name %s", name)
			}
		}
		for _, place := range []string{"fuzz/", "interop/"} {
			if _, err := os.Stat(filepath.Join("..", place+chain+"_test.go")); err != nil {
				t.Error(err)
			}
		}
		for _, place := range []string{"activity/transaction.go", "httpapi/openapi.json", "internal/cli/testdata/script/chains.txtar"} {
			if !strings.Contains(document, "`"+place+"`") || !strings.Contains(read(t, "../"+place), string(kind)) {
				t.Errorf("%s: does not know %s, or is not in the document", place, kind)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text := testenv.Read(t, path)
	return string(text)
}
