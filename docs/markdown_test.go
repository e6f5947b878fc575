package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// documents returns those whose code and links are checked.
func documents(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("*.md")
	if err != nil || len(all) < 10 {
		t.Fatalf("the documents are not here: %v", err)
	}
	return append(all, "../SECURITY.md", "../CONTRIBUTING.md", "../packaging/README.md")
}

// goBlock is a fenced block of Go in a document.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestShownCode checks that the Go files of this folder have each block of Go in the
// documents: what is shown was compiled and run.
func TestShownCode(t *testing.T) {
	compiled := goFiles(t)
	shown := 0
	for _, document := range documents(t) {
		text := testenv.Read(t, document)
		for _, block := range goBlock.FindAllStringSubmatch(string(text), -1) {
			shown++
			if !strings.Contains(compiled, flush(block[1])) {
				t.Errorf("%s: no Go file of this folder has\n%s", document, block[1])
			}
		}
	}
	if shown < 6 {
		t.Errorf("%d blocks of Go were found: the documents have more", shown)
	}
}

// link is a link in a document to another file of the project or to a section.
var link = regexp.MustCompile(`\]\(([^):#]*)(?:#([^):]+))?\)`)

// fenced is a block of anything.
var fenced = regexp.MustCompile("(?s)```.*?```")

// heading is a heading of a document.
var heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

// TestLinks follows the links to files, and to sections of documents.
func TestLinks(t *testing.T) {
	sections := 0
	for _, document := range append(documents(t), "../README.md") {
		for _, found := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, document), ""), -1) {
			target := document
			if found[1] != "" {
				target = filepath.Join(filepath.Dir(document), found[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", document, err)
				continue
			}
			if found[2] == "" || filepath.Ext(target) != ".md" {
				continue
			}
			sections++
			if !anchors(read(t, target))[found[2]] {
				t.Errorf("%s: %s has no section #%s", document, target, found[2])
			}
		}
	}
	if sections < 50 {
		t.Errorf("only %d links to sections were found", sections)
	}
}

// anchors returns the names by which links reach the sections of a document.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, found[1])] = true
	}
	return names
}

// goFiles returns the Go files of this folder as one text.
func goFiles(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*_test.go", "*/*.go"} {
		paths, err := filepath.Glob(pattern)
		testenv.Must(t, err)
		for _, path := range paths {
			source := testenv.Read(t, path)
			all.WriteString(flush(string(source)))
		}
	}
	return all.String()
}

// flush removes the indentation: a document shows the inside of a function flush left.
func flush(code string) string {
	var out strings.Builder
	for line := range strings.Lines(code) {
		out.WriteString(strings.TrimLeft(line, "\t"))
	}
	return out.String()
}

// spaced returns an empty folder whose name has a space.
func spaced(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "a folder")
	testenv.Must(t, os.Mkdir(folder, 0o700))
	return folder
}
