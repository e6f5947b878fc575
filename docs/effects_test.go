package docs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/messages"
)

// effectTables are the tables that the chains' tests write and effects.md repeats.
var effectTables = []struct{ title, path string }{
	{"Ethereum, Tempo and Tron: functions of contracts", "../chains/internal/evm/testdata/functions.txt"},
	{"Tempo: precompiles", "../chains/internal/evm/testdata/tempo.txt"},
	{"Tron: contract types", "../chains/tron/testdata/kinds.txt"},
	{"Solana: instructions", "../chains/solana/testdata/kinds.txt"},
}

const generatedMark = "<!-- generated below -->\n"

// TestEffectsPage: the lists of effects.md are those of the code.
// COUNTERSIGN_UPDATE=1 writes them anew.
func TestEffectsPage(t *testing.T) {
	page := read(t, "effects.md")
	written, _, ok := strings.Cut(page, generatedMark)
	if !ok {
		t.Fatalf("effects.md has no line %q", generatedMark)
	}
	want := written + generatedMark + generatedEffects(t)
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		if err := os.WriteFile("effects.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		page = want
	}
	if page != want {
		t.Error("the lists of effects.md are not those of the code: run the test with COUNTERSIGN_UPDATE=1")
	}
	for _, kind := range chains.Kinds() {
		if !strings.Contains(written, "| `"+string(kind)+"` |") {
			t.Errorf("effects.md does not explain the kind %s", kind)
		}
	}
}

func generatedEffects(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("\n## Hazards\n\n")
	for _, chain := range countersign.Chains(countersign.Limits{}) {
		fmt.Fprintf(&out, "* %s: `%s`\n", chain.Name(), strings.Join(chain.HazardNames(), "`, `"))
	}
	fmt.Fprintf(&out, "* messages: `%s`\n", strings.Join(messages.HazardNames(), "`, `"))
	for _, table := range effectTables {
		fmt.Fprintf(&out, "\n## %s\n\n```\n%s```\n", table.title, read(t, table.path))
	}
	return out.String()
}
