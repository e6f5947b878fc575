//go:build cgo

package pkcs11_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestCrypto11 lists what the package uses of crypto11: it opens the module and logs in. Keys
// and their sessions are the pool's alone.
func TestCrypto11(t *testing.T) {
	want := []string{"Config", "Configure", "Context"}
	paths, err := filepath.Glob("*.go")
	testenv.Must(t, err)
	used := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		testenv.Must(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			if selector, ok := node.(*ast.SelectorExpr); ok {
				if name, ok := selector.X.(*ast.Ident); ok && name.Name == "crypto11" {
					used[selector.Sel.Name] = true
				}
			}
			return true
		})
	}
	if got := slices.Sorted(maps.Keys(used)); !slices.Equal(got, want) {
		t.Errorf("uses %v of crypto11, want %v", got, want)
	}
}
