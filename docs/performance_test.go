package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestPerformance checks that the benchmarks and targets named in performance.md exist.
func TestPerformance(t *testing.T) {
	document := read(t, "performance.md")
	code := codeOf(t, true)
	for _, name := range regexp.MustCompile(`\bBenchmark\w+`).FindAllString(document, -1) {
		if !strings.Contains(code, "func "+name+"(") {
			t.Errorf("no benchmark %s", name)
		}
	}
	makefile := testenv.Read(t, "../Makefile")
	for _, target := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(document, -1) {
		family, _, _ := strings.Cut(target[1], "-") // of which a pattern rule makes each
		if !regexp.MustCompile(`(?m)^(` + target[1] + `|` + family + `-%):`).Match(makefile) {
			t.Errorf("no target %s", target[1])
		}
	}
}

// codeOf returns the code of the tests, or of everything else.
func codeOf(t *testing.T, tests bool) string {
	t.Helper()
	var code strings.Builder
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && isMade(entry.Name()) {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") != tests {
			return err
		}
		content, err := os.ReadFile(path)
		code.Write(content)
		return err
	})
	testenv.Must(t, err)
	return code.String()
}
