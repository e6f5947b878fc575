package hosted

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/internal/syntax"
)

// piece translates a part of an expression.
func (t *translation) piece(e ast.Expr) (piece, error) {
	switch e.Kind() {
	case ast.LiteralKind:
		return literal(e)
	case ast.IdentKind, ast.SelectKind:
		return t.field(e)
	case ast.CallKind:
		return t.call(e.AsCall())
	case ast.ListKind:
		return t.list(e.AsList(), piece{})
	}
	return piece{}, errors.New("it has a part that has no counterpart here")
}

func literal(e ast.Expr) (piece, error) {
	switch value := e.AsLiteral().(type) {
	case types.String:
		return piece{quote(string(value)), "text"}, nil
	case types.Int:
		return piece{strconv.FormatInt(int64(value), 10), "int"}, nil
	case types.Bool:
		return piece{strconv.FormatBool(bool(value)), "bool"}, nil
	}
	return piece{}, errors.New("it has a number that is no integer")
}

func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

// field translates a field by the table.
func (t *translation) field(e ast.Expr) (piece, error) {
	path := syntax.Path(e)
	if path == "" { // of something that is not a plain path, such as list[0]
		base, err := t.piece(e.AsSelect().Operand())
		if err != nil {
			return piece{}, err
		}
		return lookUp(base.kind+"."+e.AsSelect().FieldName(), base.text)
	}
	root, rest, _ := strings.Cut(path, ".")
	if v, bound := t.scope[root]; bound {
		return v.field(root, rest)
	}
	if chain, ok := chainsByRoot[root]; ok {
		if err := t.onChain(chain); err != nil {
			return piece{}, err
		}
	}
	return lookUp(path, "")
}

// field translates a field of the variable called name; an empty field is the variable
// itself.
func (v variable) field(name, field string) (piece, error) {
	switch {
	case field == "":
		return piece{name, v.element}, nil
	case v.effect && v.element == "output" && field == "address":
		return piece{"effect.to", "address"}, nil
	case v.effect && v.element == "output" && field == "value":
		return piece{"effect.amount", "sats"}, nil
	case v.effect:
		name = "effect"
	}
	return lookUp(v.element+"."+field, name)
}

// call translates operators and functions.
func (t *translation) call(call ast.CallExpr) (piece, error) {
	name, args := call.FunctionName(), call.Args()
	switch name {
	case "_&&_", "_||_":
		return t.logic(name[1:3], args)
	case "!_":
		operand, err := t.piece(args[0])
		return piece{"!(" + operand.text + ")", "bool"}, err
	case "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_":
		return t.comparison(strings.Trim(name, "_"), args)
	case "@in":
		return t.membership(args[0], args[1])
	case "_[_]":
		return t.index(args)
	case "count":
		list, err := t.piece(call.Target())
		return piece{list.text + ".size()", "int"}, err
	case "contains":
		if len(args) != 1 {
			return piece{}, errors.New("contains takes one value")
		}
		return t.membership(args[0], call.Target())
	case "all", "any", "filter":
		return t.macro(call)
	}
	return piece{}, fmt.Errorf("the function %s has no counterpart here", name)
}

func (t *translation) logic(operator string, args []ast.Expr) (piece, error) {
	var parts []string
	for _, arg := range args {
		operand, err := t.piece(arg)
		if err != nil {
			return piece{}, err
		}
		if operator == "&&" {
			operand.text = grouped(arg, operand.text, "_||_")
		}
		parts = append(parts, operand.text)
	}
	return piece{strings.Join(parts, " "+operator+" "), "bool"}, nil
}

// operators bind no closer than a comparison, so that as its operands they need
// parentheses.
var operators = []string{"_&&_", "_||_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "contains"}

// grouped puts the translation of e in parentheses if e is a call of one of the
// functions.
func grouped(e ast.Expr, text string, functions ...string) string {
	if slices.Contains(functions, e.AsCall().FunctionName()) {
		return "(" + text + ")"
	}
	return text
}

// comparison translates both sides. A literal takes the kind of the field that it is
// compared with.
func (t *translation) comparison(operator string, args []ast.Expr) (piece, error) {
	text, isText := syntax.Text(args[1])
	if isText && syntax.Path(args[0]) == "wallet_account.address" && operator == "==" {
		return piece{"address(" + quote(text) + ") in key.addresses", "bool"}, nil
	}
	left, err := t.piece(args[0])
	if err != nil {
		return piece{}, err
	}
	if isText && left.kind == "address" && operator == "==" && (text == "" || text == "ADDRESS_TABLE_LOOKUP") {
		return piece{"!has(" + left.text + ")", "bool"}, nil
	}
	right, err := t.piece(args[1])
	if err != nil {
		return piece{}, err
	}
	return piece{operand(args[0], left, right.kind) + " " + operator + " " + operand(args[1], right, left.kind), "bool"}, nil
}

// operand writes one side of a comparison with a value of a kind.
func operand(e ast.Expr, side piece, kind string) string {
	return grouped(e, asKind(side, e, kind), operators...)
}

// asKind writes a literal as the kind of what it is compared with; anything else is
// unchanged.
func asKind(of piece, e ast.Expr, kind string) string {
	if e.Kind() != ast.LiteralKind {
		return of.text
	}
	text, isText := syntax.Text(e)
	switch {
	case kind == "address" && isText:
		return "address(" + of.text + ")"
	case kind == "hex" && isText:
		return quote("0x" + strings.TrimPrefix(text, "0x"))
	case kind == "text" && isText && len(text) == 8 && strings.Trim(text, "0123456789abcdef") == "":
		return quote("0x" + text) // a selector
	case units[kind] && of.kind == "int":
		return kind + "('" + of.text + "')"
	case kind == "int" && isText && text != "" && strings.Trim(text, "0123456789") == "":
		return text // the hosted service's documentation has chain ids in quotes
	}
	return of.text
}

// membership translates x in list and list.contains(x).
func (t *translation) membership(of, list ast.Expr) (piece, error) {
	left, err := t.piece(of)
	if err != nil {
		return piece{}, err
	}
	var right piece
	if list.Kind() == ast.ListKind {
		right, err = t.list(list.AsList(), left)
	} else {
		right, err = t.piece(list)
	}
	return piece{operand(of, left, strings.TrimPrefix(right.kind, "list ")) + " in " + right.text, "bool"}, err
}

func (t *translation) list(list ast.ListExpr, like piece) (piece, error) {
	var parts []string
	for _, element := range list.Elements() {
		item, err := t.piece(element)
		if err != nil {
			return piece{}, err
		}
		parts = append(parts, asKind(item, element, like.kind))
	}
	return piece{"[" + strings.Join(parts, ", ") + "]", "list " + like.kind}, nil
}

// index translates list[0]. In an allow the list must have only that element: the
// others would go unseen.
func (t *translation) index(args []ast.Expr) (piece, error) {
	if path := syntax.Path(args[0]); strings.HasSuffix(path, "contract_call_args") || strings.HasPrefix(path,
		"secret.") || strings.HasPrefix(path, "eth.eip_712") {
		return lookUp(path, "")
	}
	list, err := t.piece(args[0])
	if err != nil {
		return piece{}, err
	}
	position, err := t.piece(args[1])
	if err != nil {
		return piece{}, err
	}
	if alone := list.text + ".size() == 1"; !t.deny && position.text == "0" && list.kind != "list contract" &&
		!slices.Contains(t.when, alone) {
		t.when = append(t.when, alone)
		t.note("it looked at the first of several: here there may be only one")
	}
	return piece{list.text + "[" + position.text + "]", strings.TrimPrefix(list.kind, "list ")}, nil
}

// macroArguments returns the variable and the body of list.all(x, …).
func macroArguments(call ast.CallExpr) (name string, body ast.Expr, err error) {
	if len(call.Args()) != 2 || call.Args()[0].Kind() != ast.IdentKind {
		return "", nil, fmt.Errorf("%s takes a variable and a condition", call.FunctionName())
	}
	return call.Args()[0].AsIdent(), call.Args()[1], nil
}

// macro translates list.all(x, …), list.any(x, …) and list.filter(x, …).
func (t *translation) macro(call ast.CallExpr) (piece, error) {
	function := call.FunctionName()
	list, err := t.piece(call.Target())
	if err != nil {
		return piece{}, err
	}
	name, body, err := macroArguments(call)
	if err != nil {
		return piece{}, err
	}
	if !strings.HasPrefix(list.kind, "list ") {
		return piece{}, fmt.Errorf("%s takes a variable and a condition", function)
	}
	t.scope[name] = variable{element: strings.TrimPrefix(list.kind, "list ")}
	defer delete(t.scope, name)
	clause, err := t.piece(body)
	if err != nil {
		return piece{}, err
	}
	kind := "bool"
	if function == "filter" {
		kind = list.kind
	}
	if function == "any" {
		function = "exists"
	}
	return piece{list.text + "." + function + "(" + name + ", " + clause.text + ")", kind}, nil
}
