// Package syntax has helpers for the syntax trees of CEL expressions and for the text beside them.
package syntax

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// IsCall reports whether e calls the function or operator of a name, such as "_&&_".
func IsCall(e ast.Expr, name string) bool { return e.AsCall().FunctionName() == name }

// Text returns the value of a string literal; ok is false for anything else.
func Text(e ast.Expr) (text string, ok bool) {
	value, ok := e.AsLiteral().(types.String)
	return string(value), ok
}

// Path returns a.b.c for selections on a variable, and "" for anything else.
func Path(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if base := Path(e.AsSelect().Operand()); base != "" {
			return base + "." + e.AsSelect().FieldName()
		}
	}
	return ""
}
