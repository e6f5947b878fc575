package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// anyRefuses reports whether one of the statements refuses, and adds those that do to
// covered.
func (f *finder) anyRefuses(statements []ast.Stmt, last ast.Expr, covered map[ast.Stmt]bool) bool {
	refuses := false
	for _, statement := range statements {
		if f.refuses(statement, last) {
			covered[statement], refuses = true, true
		}
	}
	return refuses
}

// refuses reports whether a statement returns an error or false, records a failure, or
// reports a hazard. last is the type of the function's last result.
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
		return false // passes on what another function returns
	}
	switch {
	case f.isError(last):
		return !value.IsNil()
	case value.Value != nil && value.Value.Kind() == constant.Bool:
		return !constant.BoolVal(value.Value)
	}
	return f.reportsHazard(result)
}

// assignmentRefuses reports whether a statement stores an error in a field, or adds a
// hazard.
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

// reportsHazard reports whether a value is of a type named Hazard, or appends one.
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

// lastResult returns the type of a function's last result, or nil if it has none.
func lastResult(signature *ast.FuncType) ast.Expr {
	if signature.Results == nil {
		return nil
	}
	results := signature.Results.List
	return results[len(results)-1].Type
}

// countReturns counts the returns of a function. A function with a single return
// constructs an error or passes one on, but does not decide anything.
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
