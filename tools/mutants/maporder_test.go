package main

import (
	"go/ast"
	"go/types"
	"testing"
)

// ordered lists the files with a range over a map whose error does not depend on the
// order, with the reason.
var ordered = map[string]string{
	"verify/answer.go":                 "the map has one member",
	"chains/descriptors/anchor.go":     "the map has one member",
	"chains/descriptors/descriptor.go": "only one name matters",
	"keystore/file/wallet_index.go":    "the error is about two wallets, whichever comes first",
}

// TestErrorsDoNotDependOnMapOrder checks that of several faults the same one is reported
// in each run: no range over a map returns an error from its body.
func TestErrorsDoNotDependOnMapOrder(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("CGO_ENABLED", "0") // files that import C cannot be type-checked by themselves
	packages, err := load(t.Context(), []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	listed, ranges := map[string]bool{}, 0
	for _, p := range packages {
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				over, ok := n.(*ast.RangeStmt)
				if !ok || !p.unordered(over.X) {
					return true
				}
				ranges++
				if p.returnsError(over.Body) {
					if path := p.path(file); ordered[path] == "" {
						t.Errorf("%s: the error depends on the order of a map: sort the keys", p.fset.Position(over.Pos()))
					} else {
						listed[path] = true
					}
				}
				return true
			})
		}
	}
	if len(listed) != len(ordered) || ranges < 50 {
		t.Errorf("%d of %d listed files have such a range, of %d ranges over maps: remove the others", len(listed), len(ordered), ranges)
	}
}

// unordered reports whether x is a map, or a call such as maps.Keys.
func (l *loaded) unordered(x ast.Expr) bool {
	if call, ok := x.(*ast.CallExpr); ok {
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if of, ok := selector.X.(*ast.Ident); ok && of.Name == "maps" {
			return true
		}
	}
	_, ok := l.info.TypeOf(x).Underlying().(*types.Map)
	return ok
}

// returnsError reports whether a return in the block may return a non-nil error.
func (l *loaded) returnsError(block ast.Node) (returns bool) {
	failure := types.Universe.Lookup("error").Type()
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for _, result := range n.Results {
				value := l.info.Types[result]
				returns = returns || value.Type != nil && !value.IsNil() && types.AssignableTo(value.Type, failure)
			}
		}
		return true
	})
	return returns
}
