package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// namedFiles are the tests, and the Go files with their folders, that a page names.
var namedFiles = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)+\\.go|[\\w.-]+_test\\.go)`")

// TestNamedFilesExist: the files that pages name as proof of a promise exist; one named
// without its folder exists somewhere.
func TestNamedFilesExist(t *testing.T) {
	exists := map[string]bool{}
	files, err := testFiles("../...")
	testenv.Must(t, err)
	for _, file := range files {
		exists[path.Base(filepath.ToSlash(file))] = true
	}
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal(pages, err)
	}
	named := 0
	for _, page := range append(pages, "../CONTRIBUTING.md", "../README.md") {
		text := testenv.Read(t, page)
		for _, match := range namedFiles.FindAllStringSubmatch(string(text), -1) {
			named++
			if _, err := os.Stat(filepath.Join("..", match[1])); err != nil && !exists[match[1]] {
				t.Errorf("%s names %s, which does not exist", page, match[1])
			}
		}
	}
	if named < 40 {
		t.Errorf("only %d files are named", named)
	}
}
