package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/all"
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

// chainPlaces are the files outside the chains' own packages that name three chains or more,
// and so may need a line for a new one. adding-a-chain.md says what each is for.
var chainPlaces = []string{
	"activity/transaction.go", "chains/all/all.go", "internal/chainvectors/chainvectors.go",
	"internal/cli/show/message.go", "internal/cli/sign/sign_foreign.go",
	"messages/refuse.go",
}

// TestChainPlaces counts the files that name the chains instead of asking them. Only the row
// of chains/all makes the program sign for a chain.
func TestChainPlaces(t *testing.T) {
	var found []string
	for _, path := range sources(t) {
		path = strings.TrimPrefix(filepath.ToSlash(path), "../")
		if !strings.HasSuffix(path, "_test.go") && len(chainsNamed(t, path)) >= 3 {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, chainPlaces) {
		t.Errorf("the files that name the chains are %q, and not %q: ask the chain, by chains.Words or an optional interface of package chains", found, chainPlaces)
	}
	document := read(t, "adding-a-chain.md")
	for _, path := range chainPlaces {
		if !strings.Contains(document, "`"+path+"`") {
			t.Errorf("the document does not name %s", path)
		}
	}
}

// chainsNamed returns the chains that a file imports or names, those in its own package left
// out.
func chainsNamed(t *testing.T, path string) (named []string) {
	t.Helper()
	code := lineComment.ReplaceAllString(read(t, "../"+path), "")
	for _, chain := range all.Chains(all.Limits{}) {
		name := chain.Name()
		of := `chains/` + name + `"|TransactionType` + strings.ToUpper(name[:1]) + name[1:] + `\b|"` + name + `"`
		if !strings.HasPrefix(path, "chains/"+name+"/") && regexp.MustCompile(of).MatchString(code) {
			named = append(named, name)
		}
	}
	return named
}

// lineComment matches a comment that stands on a line of its own or behind code.
var lineComment = regexp.MustCompile(`(?m)(^|\s)//.*$`)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
