package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/messages"
)

// generatedMark separates what is written by hand in effects.md from the names of hazards.
const generatedMark = "<!-- generated below -->\n"

// TestHazardNames checks that effects.md ends with the names of all hazards.
// COUNTERSIGN_UPDATE=1 rewrites them.
func TestHazardNames(t *testing.T) {
	const path = "effects.md"
	page := read(t, path)
	written, _, ok := strings.Cut(page, generatedMark)
	if !ok {
		t.Fatalf("%s has no line %q", path, generatedMark)
	}
	want := written + generatedMark + hazardNames()
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		page = want
	}
	if page != want {
		t.Errorf("the hazards at the end of %s are not those of the code: run the test with COUNTERSIGN_UPDATE=1", path)
	}
}

// TestKindsExplained checks that effects.md explains each kind of effect.
func TestKindsExplained(t *testing.T) {
	page := read(t, "effects.md")
	for _, kind := range chains.Kinds() {
		if !strings.Contains(page, "| `"+string(kind)+"` |") {
			t.Errorf("effects.md does not explain the kind %s", kind)
		}
	}
}

// TestKindsInGoldenFiles checks that a golden file has every kind of effect of
// transactions and messages. One-time passwords have no summary.
func TestKindsInGoldenFiles(t *testing.T) {
	paths, err := filepath.Glob("../chains/*/testdata/summary/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../internal/cli/testdata/script/messages_*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[chains.Kind]int{}
	for _, path := range append(paths, more...) {
		text := read(t, path)
		for _, kind := range chains.Kinds() {
			seen[kind] += strings.Count(text, `"kind":"`+string(kind)+`"`)
		}
	}
	for _, kind := range chains.Kinds() {
		if seen[kind] == 0 && kind != chains.KindOTP {
			t.Errorf("no golden file has an effect of kind %s", kind)
		}
	}
}

func hazardNames() string {
	var out strings.Builder
	for _, chain := range all.Chains(all.Limits{}) {
		fmt.Fprintf(&out, "* %s: `%s`\n", chain.Name(), strings.Join(chain.HazardNames(), "`, `"))
	}
	fmt.Fprintf(&out, "* messages: `%s`\n", strings.Join(messages.HazardNames(all.Chains(all.Limits{})...), "`, `"))
	return out.String()
}
