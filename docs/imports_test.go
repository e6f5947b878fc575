package docs_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

const module = "github.com/countersign-dev/countersign"

// TestImportGraph compares the graph in design.md with the code. Each top-level folder
// is a box; arrows that follow from others are left out. COUNTERSIGN_UPDATE=1 redraws
// it.
func TestImportGraph(t *testing.T) {
	page := read(t, "design.md")
	before, rest, begins := strings.Cut(page, "```mermaid\n")
	_, after, ends := strings.Cut(rest, "```\n")
	if !begins || !ends {
		t.Fatal("design.md has no picture of the imports")
	}
	want := before + "```mermaid\n" + drawn(t, importGraph(t)) + "```\n" + after
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		testenv.Must(t, os.WriteFile("design.md", []byte(want), 0o644))
		page = want
	}
	if page != want {
		t.Errorf("the imports are not those of design.md: run the test with COUNTERSIGN_UPDATE=1. They are\n%s", want[len(before):len(want)-len(after)])
	}
}

// importGraph returns which box imports which.
func importGraph(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...").Output()
	testenv.Must(t, err)
	graph := map[string]map[string]bool{}
	for line := range strings.Lines(string(out)) {
		packages := strings.Fields(line)
		from, shown := box(packages[0])
		for _, imported := range packages[1:] {
			to, ours := box(imported)
			if !shown || !ours || from == to {
				continue
			}
			if graph[from] == nil {
				graph[from] = map[string]bool{}
			}
			graph[from][to] = true
		}
	}
	return graph
}

// ownBoxes are packages that stand on another floor than the rest of their folder.
var ownBoxes = []string{"chains/all", "otp/operations"}

// box returns the box of a package. It returns false for what the graph leaves out: other
// modules, helpers that any package may use, and packages for tests.
func box(path string) (string, bool) {
	rest, ours := strings.CutPrefix(path, module)
	if strings.HasSuffix(path, "test") { // a contract as a suite, such as storetest
		return "", false
	}
	if rest == "/internal/cli" || strings.HasPrefix(rest, "/internal/cli/") { // the rooms of the command
		return "cmd", ours
	}
	folder, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	switch folder {
	case "":
		return "countersign", ours
	case "internal", "bench", "docs", "fuzz", "interop":
		return "", false
	}
	if own := strings.TrimPrefix(rest, "/"); slices.Contains(ownBoxes, own) {
		return own, ours
	}
	return folder, ours
}

// drawn returns the graph as a flow chart. An arrow is left out if a longer path leads to
// the same box. A cycle is an error.
func drawn(t *testing.T, graph map[string]map[string]bool) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("flowchart TD\n")
	for _, from := range slices.Sorted(maps.Keys(graph)) {
		if leads(graph, from, from, len(graph)) {
			t.Errorf("%s imports itself by way of others", from)
		}
		for _, to := range slices.Sorted(maps.Keys(graph[from])) {
			direct := true
			for by := range graph[from] {
				direct = direct && (by == to || !leads(graph, by, to, len(graph)))
			}
			if direct {
				fmt.Fprintf(&out, "  %s --> %s\n", from, to)
			}
		}
	}
	return out.String()
}

// leads reports whether a path of at most steps arrows leads from one box to another.
func leads(graph map[string]map[string]bool, from, to string, steps int) bool {
	for next := range graph[from] {
		if next == to || steps > 1 && leads(graph, next, to, steps-1) {
			return true
		}
	}
	return false
}
