package fuzz

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// targets returns the names of this package's fuzz targets, sorted.
func targets(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	testenv.Must(t, err)
	var names []string
	for _, path := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		testenv.Must(t, err)
		for _, declaration := range parsed.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && strings.HasPrefix(function.Name.Name, "Fuzz") {
				names = append(names, function.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// TestSeedsBelongToTargets finds seeds whose target has been renamed or removed: the
// go command ignores such folders.
func TestSeedsBelongToTargets(t *testing.T) {
	folders, err := os.ReadDir("testdata/fuzz")
	testenv.Must(t, err)
	known := targets(t)
	for _, folder := range folders {
		if !slices.Contains(known, folder.Name()) {
			t.Errorf("testdata/fuzz/%s belongs to no target", folder.Name())
		}
	}
}

// TestTable checks that the package comment lists every target, and no other.
func TestTable(t *testing.T) {
	comment := testenv.Read(t, "doc.go")
	var listed []string
	for line := range strings.Lines(string(comment)) {
		if name, ok := strings.CutPrefix(line, "//\tFuzz"); ok {
			listed = append(listed, "Fuzz"+strings.Fields(name)[0])
		}
	}
	slices.Sort(listed)
	if known := targets(t); !slices.Equal(listed, known) {
		t.Errorf("the package comment lists %v\nthe targets are          %v", listed, known)
	}
}
