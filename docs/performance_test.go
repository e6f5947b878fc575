package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPerformance checks that the benchmarks and targets named in performance.md exist.
func TestPerformance(t *testing.T) {
	document := read(t, "performance.md")
	var code strings.Builder
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		code.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`\bBenchmark\w+`).FindAllString(document, -1) {
		if !strings.Contains(code.String(), "func "+name+"(") {
			t.Errorf("no benchmark %s", name)
		}
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(document, -1) {
		family, _, _ := strings.Cut(target[1], "-") // of which a pattern rule makes each
		if !regexp.MustCompile(`(?m)^(` + target[1] + `|` + family + `-%):`).Match(makefile) {
			t.Errorf("no target %s", target[1])
		}
	}
}

// TestPerformanceMachines checks that the page names, wherever it links to results, the processor
// that they were recorded on: in the link's paragraph, which ends at an empty line.
func TestPerformanceMachines(t *testing.T) {
	link := regexp.MustCompile(`\.\./(bench/results/[\w.-]+\.txt)`)
	processor := regexp.MustCompile(`(?m)^cpu: (.+)$`)
	checked := 0
	for paragraph := range strings.SplitSeq(read(t, "performance.md"), "\n\n") {
		plain := strings.Join(strings.Fields(paragraph), " ")
		for _, found := range link.FindAllStringSubmatch(paragraph, -1) {
			results, err := os.ReadFile(filepath.Join("..", found[1]))
			if err != nil {
				t.Fatal(err)
			}
			machines := map[string]bool{}
			for _, machine := range processor.FindAllStringSubmatch(string(results), -1) {
				machines[machine[1]] = true
			}
			if len(machines) == 0 {
				t.Errorf("%s names no processor", found[1])
			}
			for machine := range machines {
				checked++
				if !strings.Contains(plain, machine) {
					t.Errorf("%s was recorded on %q, which this paragraph does not say: %.80s…", found[1], machine, plain)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d processors checked", checked)
	}
}
