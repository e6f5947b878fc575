package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// anyRefuses says whether one of the statements refuses, and marks the returns
// among them.
func (f *finder) anyRefuses(statements []ast.Stmt, last ast.Expr, covered map[ast.Stmt]bool) bool {
	refuses := false
	for _, statement := range statements {
		if f.refuses(statement, last) {
			covered[statement], refuses = true, true
		}
	}
	return refuses
}

// refuses says whether a statement returns an error or false, notes a failure,
// or reports a hazard. Last is the type of the function's last result.
func (f *finder) refuses(statement ast.Stmt, last ast.Expr) bool {
	switch statement := statement.(type) {
	case *ast.ReturnStmt:
		return f.returnRefuses(statement, last)
	case *ast.AssignStmt:
		return f.assignmentRefuses(statement)
	case *ast.ExprStmt:
		call, ok := statement.X.(*ast.CallExpr)
		return ok && strings.HasPrefix(strings.ToLower(calledName(call)), "fail")
	}
	return false
}

func (f *finder) returnRefuses(statement *ast.ReturnStmt, last ast.Expr) bool {
	if len(statement.Results) == 0 || last == nil {
		return false
	}
	result := statement.Results[len(statement.Results)-1]
	value := f.info.Types[result]
	if _, several := value.Type.(*types.Tuple); several {
		return false // hands on what another function returns
	}
	switch {
	case f.isError(last):
		return !value.IsNil()
	case value.Value != nil && value.Value.Kind() == constant.Bool:
		return !constant.BoolVal(value.Value)
	}
	return f.reportsHazard(result)
}

// assignmentRefuses: an error that is kept, or one more hazard.
func (f *finder) assignmentRefuses(statement *ast.AssignStmt) bool {
	if statement.Tok != token.ASSIGN || len(statement.Rhs) != len(statement.Lhs) {
		return false
	}
	for i, value := range statement.Rhs {
		_, field := statement.Lhs[i].(*ast.SelectorExpr)
		if field && f.isError(statement.Lhs[i]) && !f.info.Types[value].IsNil() {
			return true
		}
		if f.reportsHazard(value) {
			return true
		}
	}
	return false
}

// reportsHazard: a value of a type named Hazard, or an append of one.
func (f *finder) reportsHazard(value ast.Expr) bool {
	if call, ok := value.(*ast.CallExpr); ok && calledName(call) == "append" && len(call.Args) > 1 {
		return f.isHazard(call.Args[1])
	}
	return f.isHazard(value)
}

func (f *finder) isHazard(value ast.Expr) bool {
	named, ok := f.info.Types[value].Type.(*types.Named)
	return ok && named.Obj().Name() == "Hazard"
}

func (f *finder) isError(expression ast.Expr) bool {
	if expression == nil {
		return false
	}
	t := f.info.Types[expression].Type
	return t != nil && types.Implements(t, errorInterface)
}

// lastResult is the type of a function's last result, nil if it has none.
func lastResult(signature *ast.FuncType) ast.Expr {
	if signature.Results == nil {
		return nil
	}
	results := signature.Results.List
	return results[len(results)-1].Type
}

// countReturns counts the returns of a function. One with a single return
// makes an error or hands one on, and decides nothing.
func countReturns(body *ast.BlockStmt) int {
	count := 0
	ast.Inspect(body, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			count++
		}
		return true
	})
	return count
}

func calledName(call *ast.CallExpr) string {
	switch called := call.Fun.(type) {
	case *ast.Ident:
		return called.Name
	case *ast.SelectorExpr:
		return called.Sel.Name
	}
	return ""
}
