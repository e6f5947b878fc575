package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// piece translates a part of an expression.
func (t *translation) piece(e ast.Expr) (piece, error) {
	switch e.Kind() {
	case ast.LiteralKind:
		return literalPiece(e)
	case ast.IdentKind, ast.SelectKind:
		return t.field(e)
	case ast.CallKind:
		return t.call(e.AsCall())
	case ast.ListKind:
		return t.list(e.AsList(), piece{})
	}
	return piece{}, errors.New("it has a part that has no counterpart here")
}

func literalPiece(e ast.Expr) (piece, error) {
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
	path := pathOf(e)
	if path == "" && e.Kind() == ast.SelectKind {
		return t.fieldOf(e.AsSelect())
	}
	root, rest, _ := strings.Cut(path, ".")
	if element, bound := t.scope[root]; bound {
		return t.elementField(root, element, rest)
	}
	if chain, ok := detailRoots[root]; ok {
		if err := t.onChain(chain); err != nil {
			return piece{}, err
		}
	}
	return lookUp(path, "")
}

// fieldOf translates a field of something that is no plain path, such as list[0].
func (t *translation) fieldOf(of ast.SelectExpr) (piece, error) {
	base, err := t.piece(of.Operand())
	if err != nil {
		return piece{}, err
	}
	return lookUp(base.kind+"."+of.FieldName(), base.text)
}

// elementField translates a field of a macro's variable.
func (t *translation) elementField(variable, element, rest string) (piece, error) {
	switch {
	case rest == "":
		return piece{variable, element}, nil
	case element == "output effect" && rest == "address":
		return piece{"effect.to", "address"}, nil
	case element == "output effect" && rest == "value":
		return piece{"effect.amount", "sats"}, nil
	case t.chain == "solana" && (element == "transfer" || element == "spl") && t.scope["!"+variable] == "":
		return lookUp(element+"."+rest, "effect")
	}
	return lookUp(element+"."+rest, variable)
}

// call translates operators and functions.
func (t *translation) call(call ast.CallExpr) (piece, error) {
	name := call.FunctionName()
	switch name {
	case "_&&_", "_||_":
		return t.logic(name[1:3], call.Args())
	case "!_":
		made, err := t.piece(call.Args()[0])
		return piece{"!(" + made.text + ")", "bool"}, err
	case "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_":
		return t.comparison(strings.Trim(name, "_"), call.Args())
	case "@in":
		return t.membership(call.Args()[0], call.Args()[1])
	case "_[_]":
		return t.index(call.Args())
	case "count":
		made, err := t.piece(call.Target())
		return piece{made.text + ".size()", "int"}, err
	case "contains":
		return t.membership(call.Args()[0], call.Target())
	case "all", "any", "filter":
		return t.macro(name, call)
	}
	return piece{}, fmt.Errorf("the function %s has no counterpart here", shorten(name))
}

func (t *translation) logic(operator string, args []ast.Expr) (piece, error) {
	var parts []string
	for _, arg := range args {
		made, err := t.piece(arg)
		if err != nil {
			return piece{}, err
		}
		if isCall(arg, "_||_") && operator == "&&" {
			made.text = "(" + made.text + ")"
		}
		parts = append(parts, made.text)
	}
	return piece{strings.Join(parts, " "+operator+" "), "bool"}, nil
}

// comparison translates both sides; literals become of the kind of the field
// that they are compared with.
func (t *translation) comparison(operator string, args []ast.Expr) (piece, error) {
	if path, text := pathOf(args[0]), args[1]; path == "wallet_account.address" && operator == "==" {
		if address, ok := textOf(text); ok {
			return piece{"address(" + quote(address) + ") in key.addresses", "bool"}, nil
		}
	}
	left, err := t.piece(args[0])
	if err != nil {
		return piece{}, err
	}
	if text, ok := textOf(args[1]); ok && left.kind == "address" {
		switch {
		case text == "" && operator == "==":
			return piece{"!has(" + left.text + ")", "bool"}, nil
		case text == "ADDRESS_TABLE_LOOKUP" && operator == "==":
			return piece{"!has(" + left.text + ")", "bool"}, nil
		}
	}
	right, err := t.piece(args[1])
	if err != nil {
		return piece{}, err
	}
	left.text, right.text = asKind(left, args[0], right.kind), asKind(right, args[1], left.kind)
	return piece{left.text + " " + operator + " " + right.text, "bool"}, nil
}

// asKind writes a literal as the kind of what it is compared with.
func asKind(of piece, e ast.Expr, kind string) string {
	if e.Kind() != ast.LiteralKind {
		return of.text
	}
	text, isText := textOf(e)
	_, unit := unitNames[kind]
	switch {
	case kind == "address" && isText:
		return "address(" + of.text + ")"
	case kind == "hex" && isText:
		return quote("0x" + strings.TrimPrefix(text, "0x"))
	case kind == "text" && isText && len(text) == 8 && isHexText(text):
		return quote("0x" + text) // a selector
	case unit && of.kind == "int":
		return kind + "('" + of.text + "')"
	case kind == "int" && isText && isDigits(text):
		return text // the hosted service's documentation has chain ids in quotes
	}
	return of.text
}

func isHexText(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

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
		left.text = asKind(left, of, strings.TrimPrefix(right.kind, "list "))
	}
	return piece{left.text + " in " + right.text, "bool"}, err
}

func (t *translation) list(list ast.ListExpr, like piece) (piece, error) {
	var parts []string
	for _, element := range list.Elements() {
		made, err := t.piece(element)
		if err != nil {
			return piece{}, err
		}
		parts = append(parts, asKind(made, element, like.kind))
	}
	return piece{"[" + strings.Join(parts, ", ") + "]", "list " + like.kind}, nil
}

// index translates list[0]. In an allow the list must have that one element
// alone, for the others would go unseen.
func (t *translation) index(args []ast.Expr) (piece, error) {
	if path := pathOf(args[0]); strings.HasSuffix(path, "contract_call_args") || strings.HasPrefix(path, "secret.") || strings.HasPrefix(path, "eth.eip_712") {
		return lookUp(path, "")
	}
	list, err := t.piece(args[0])
	if err != nil {
		return piece{}, err
	}
	at, err := t.piece(args[1])
	if err != nil {
		return piece{}, err
	}
	if alone := list.text + ".size() == 1"; !t.deny && at.text == "0" && list.kind != "list contract" && !contains(t.when, alone) {
		t.when = append(t.when, alone)
		t.notes = append(t.notes, "it looked at the first of several: here there may be one only")
	}
	return piece{list.text + "[" + at.text + "]", strings.TrimPrefix(list.kind, "list ")}, nil
}

func contains(list []string, one string) bool {
	for _, other := range list {
		if other == one {
			return true
		}
	}
	return false
}

// macro translates list.all(x, …), list.any(x, …) and list.filter(x, …).
func (t *translation) macro(name string, call ast.CallExpr) (piece, error) {
	list, err := t.piece(call.Target())
	if err != nil {
		return piece{}, err
	}
	if len(call.Args()) != 2 || call.Args()[0].Kind() != ast.IdentKind || !strings.HasPrefix(list.kind, "list ") {
		return piece{}, fmt.Errorf("%s takes a variable and a condition", name)
	}
	variable := call.Args()[0].AsIdent()
	t.scope[variable], t.scope["!"+variable] = strings.TrimPrefix(list.kind, "list "), "own"
	defer func() { delete(t.scope, variable); delete(t.scope, "!"+variable) }()
	body, err := t.piece(call.Args()[1])
	if err != nil {
		return piece{}, err
	}
	kind := "bool"
	if name == "filter" {
		kind = list.kind
	}
	if name == "any" {
		name = "exists"
	}
	return piece{list.text + "." + name + "(" + variable + ", " + body.text + ")", kind}, nil
}
