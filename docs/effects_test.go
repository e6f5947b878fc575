package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// TestRulesAreDated checks that each chain's package comment names the versions of the
// network's programs that its rules were taken from, and the date.
func TestRulesAreDated(t *testing.T) {
	for _, chain := range all.Chains(all.Limits{}) {
		comment, _, _ := strings.Cut(read(t, "../chains/"+chain.Name()+"/chain.go"), "\npackage ")
		_, dated, ok := strings.Cut(comment, "// # How old the rules are\n")
		if !ok || !regexp.MustCompile(`\b20[0-9]{2}\b`).MatchString(dated) || strings.Contains(dated, "// # ") {
			t.Errorf("%s: the package comment does not end with how old the rules are", chain.Name())
		}
	}
}

// TestClientsInTable checks that a test covers each row of the table of clients in
// effects.md.
func TestClientsInTable(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "effects.md"), "| client | signed by default |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	for _, row := range rows {
		client := strings.TrimSpace(strings.Split(row, "|")[1])
		if count := strings.Count(heldClients(t), "testenv.ClientRow(t, "+strconv.Quote(client)); count != 1 {
			t.Errorf("%s: %d tests hold its row, want one", client, count)
		}
	}
	if len(rows) < 8 {
		t.Errorf("%d rows", len(rows))
	}
}

// heldClients returns the tests that count the outcomes of clients' transactions.
func heldClients(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"../interop/*_test.go", "../chains/*/*_test.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			all.WriteString(read(t, path))
		}
	}
	return all.String()
}

func hazardNames() string {
	var out strings.Builder
	for _, chain := range all.Chains(all.Limits{}) {
		fmt.Fprintf(&out, "* %s: `%s`\n", chain.Name(), strings.Join(chain.HazardNames(), "`, `"))
	}
	fmt.Fprintf(&out, "* messages: `%s`\n", strings.Join(messages.HazardNames(all.Chains(all.Limits{})...), "`, `"))
	return out.String()
}
