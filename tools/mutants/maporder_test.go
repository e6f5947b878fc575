package main

import (
	"go/ast"
	"go/types"
	"testing"
)

// ordered are the ranges over maps that return an error which does not depend on
// their order, by file, with the reason.
var ordered = map[string]string{
	"answer.go":                        "the map has one member",
	"chains/descriptors/anchor.go":     "the map has one member",
	"chains/descriptors/descriptor.go": "one name alone is looked at",
	"keystore/file/walletfinder.go":    "the error is of two wallets, whichever comes first",
}

// TestErrorsDoNotDependOnMapOrder: of several faults, the same one is named at each
// run. A range over a map that returns an error from its body names a random one.
func TestErrorsDoNotDependOnMapOrder(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("CGO_ENABLED", "0") // files that import C cannot be type-checked by themselves
	packages, err := load(t.Context(), []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	found, ranges := map[string]bool{}, 0
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
						t.Errorf("%s: which error this returns depends on the order of a map: sort the keys", p.fset.Position(over.Pos()))
					} else {
						found[path] = true
					}
				}
				return true
			})
		}
	}
	if len(found) != len(ordered) || ranges < 50 {
		t.Errorf("%d files of %d are as listed, of %d ranges over maps: remove what is gone", len(found), len(ordered), ranges)
	}
}

// unordered reports whether what is ranged over is a map, or maps.Keys and the like.
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

// returnsError reports whether a return in the block returns an error that is not nil.
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
