package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// refusal is one place where a package refuses.
type refusal struct {
	id      int // from 1
	place   *loaded
	name    string // file, function and ordinal, as in survivors.txt
	text    string // the condition, for the report
	line    int
	edits   []edit
	outcome outcome
}

// edit inserts text into a file, at an offset of the original.
type edit struct {
	file   *ast.File
	offset int
	text   string
}

// finder finds the refusals in the functions of a package.
type finder struct {
	*loaded
	file     *ast.File
	function string
	seen     map[string]int // refusals of each function so far
	found    []*refusal
	next     int
}

// find returns the refusals of a package in source order, with ids from first on.
func find(l *loaded, first int) []*refusal {
	f := finder{loaded: l, seen: map[string]int{}, next: first}
	for _, file := range l.files {
		f.file = file
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
				f.function = qualified(function)
				f.body(function.Type, function.Body)
			}
		}
	}
	return f.found
}

// body finds the refusals of a function and of the function literals in it.
func (f *finder) body(signature *ast.FuncType, body *ast.BlockStmt) {
	covered := map[ast.Stmt]bool{} // returns below a condition that has a switch
	last := lastResult(signature)
	several := countReturns(body) > 1
	ast.Inspect(body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			f.body(node.Type, node.Body)
			return false
		case *ast.IfStmt:
			f.condition(node, last, covered)
		case *ast.SwitchStmt:
			f.cases(node, last, covered)
		case *ast.ReturnStmt:
			if several && !covered[node] && f.isError(last) && f.refuses(node, last) {
				f.unconditional(node, last)
			}
		}
		return true
	})
}

// condition adds a switch to an if statement that refuses.
func (f *finder) condition(node *ast.IfStmt, last ast.Expr, covered map[ast.Stmt]bool) {
	if !f.anyRefuses(node.Body.List, last, covered) {
		return
	}
	text := f.text(node.Cond)
	if node.Init != nil {
		text = f.text(node.Init) + "; " + text
	}
	f.add(text, node.Pos(), f.wrapped(node.Cond, "mutantRefuses(%d, "))
}

// cases adds switches to the cases of a tagless switch statement that refuse.
func (f *finder) cases(node *ast.SwitchStmt, last ast.Expr, covered map[ast.Stmt]bool) {
	if node.Tag != nil {
		return
	}
	for _, statement := range node.Body.List {
		clause := statement.(*ast.CaseClause)
		if len(clause.List) == 0 || !f.anyRefuses(clause.Body, last, covered) {
			continue
		}
		var edits []edit
		for _, condition := range clause.List {
			edits = append(edits, f.wrapped(condition, "mutantRefuses(%d, ")...)
		}
		f.add("case "+f.text(clause.List[0]), clause.Pos(), edits)
	}
}

// unconditional adds a switch to an error that is returned without a condition of its
// own: disabled, the error is nil.
func (f *finder) unconditional(node *ast.ReturnStmt, last ast.Expr) {
	result := node.Results[len(node.Results)-1]
	f.add("return "+f.text(result), node.Pos(), f.wrapped(result, "mutantReturns["+f.text(last)+"](%d, "))
}

// wrapped wraps an expression in a call.
func (f *finder) wrapped(expression ast.Expr, call string) []edit {
	return []edit{
		{f.file, f.offset(expression.Pos()), fmt.Sprintf(call, f.next)},
		{f.file, f.offset(expression.End()), ")"},
	}
}

func (f *finder) add(text string, at token.Pos, edits []edit) {
	where := f.path(f.file) + ": " + f.function
	f.seen[where]++
	f.found = append(f.found, &refusal{
		id: f.next, place: f.loaded, name: fmt.Sprintf("%s#%d", where, f.seen[where]), text: shorten(text),
		line: f.fset.Position(at).Line, edits: edits,
	})
	f.next++
}

// qualified returns the name of a function, prefixed with its receiver type if it is a
// method.
func qualified(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	if generic, ok := receiver.(*ast.IndexExpr); ok {
		receiver = generic.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + function.Name.Name
	}
	return function.Name.Name
}

func (f *finder) offset(at token.Pos) int { return f.fset.Position(at).Offset }

// text returns the source of a node on one line.
func (f *finder) text(node ast.Node) string {
	source := f.source[f.file][f.offset(node.Pos()):f.offset(node.End())]
	return strings.Join(strings.Fields(string(source)), " ")
}

// shorten truncates text to fit on a line.
func shorten(text string) string {
	const limit = 90
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
