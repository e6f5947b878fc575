package countersign_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// pointers are the functions that put a hazard on one effect, and the argument that is
// its index.
var pointers = map[string]int{"OnEffect": 0, "AddOn": 0, "danger": 1, "deadline": 1}

// TestNoHazardOnAFixedEffect: a hazard on the effect with a constant index would stand for
// the whole transaction, and one more effect in front would take it from the others. A
// hazard of the whole belongs to no effect.
func TestNoHazardOnAFixedEffect(t *testing.T) {
	calls := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			argument, ok := pointers[selector.Sel.Name]
			if !ok || argument >= len(call.Args) {
				return true
			}
			calls++
			if _, constant := call.Args[argument].(*ast.BasicLit); constant {
				t.Errorf("%s: %s on an effect by a constant index", path, selector.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls < 20 {
		t.Errorf("%d calls: the functions have other names", calls)
	}
}
