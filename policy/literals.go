package policy

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/chains"
)

// literalCheck checks the literals of one expression.
type literalCheck struct {
	*compiler
	native *ast.AST
	made   *expression
	report func(line, column int, message string)
	fine   bool
}

// checkLiterals checks every literal in its place: constructors take literals
// that are well-formed, and members with closed lists of values are compared
// with values of those. It notes which names the expression looks at.
func (c *compiler) checkLiterals(checked *cel.Ast, made *expression, report func(line, column int, message string)) bool {
	check := &literalCheck{c, checked.NativeRep(), made, report, true}
	ast.PreOrderVisit(check.native.Expr(), ast.NewExprVisitor(check.visit))
	return check.fine
}

func (c *literalCheck) fail(at ast.Expr, message string) {
	location := c.native.SourceInfo().GetStartLocation(at.ID())
	c.report(location.Line(), location.Column()+1, message)
	c.fine = false
}

func (c *literalCheck) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		c.made.looksAt[e.AsIdent()] = true
	case ast.CallKind:
		c.call(e, e.AsCall())
	}
}

func (c *literalCheck) call(e ast.Expr, call ast.CallExpr) {
	name := call.FunctionName()
	switch {
	case literalFunctions[name]:
		c.constructor(e, name, call)
	case name == "_==_" || name == "_!=_":
		c.comparison(call.Args()[0], call.Args()[1])
		c.comparison(call.Args()[1], call.Args()[0])
	case name == "@in" && call.Args()[1].Kind() == ast.ListKind:
		elements := call.Args()[1].AsList().Elements()
		if len(elements) == 0 {
			c.fail(e, "nothing is in an empty list: this can never hold")
		}
		for _, element := range elements {
			c.comparison(call.Args()[0], element)
		}
	}
}

// constructor checks a constructor's argument.
func (c *literalCheck) constructor(e ast.Expr, name string, call ast.CallExpr) {
	last := call.Args()[len(call.Args())-1]
	text, ok := textOf(last)
	if !ok {
		c.fail(last, name+" takes a text in quotes, such as "+exampleOf(name))
		return
	}
	var err error
	switch name {
	case "address":
		_, err = parseAddress(text)
	case "timestamp":
		_, err = parseTimestamp(text)
	case "within":
		_, err = parseHours(text)
	case "amount":
		of, known := c.assets[identOf(call.Args()[0])]
		if !known {
			c.fail(call.Args()[0], "amount takes an asset of the file by its name, such as amount(usdc, '1.50')")
			return
		}
		_, err = amountOf(of, types.String(text))
	case "arg":
	default:
		_, err = newAmount(name, text)
	}
	if err != nil {
		c.fail(last, err.Error())
	}
}

func identOf(e ast.Expr) string {
	if e.Kind() == ast.IdentKind {
		return e.AsIdent()
	}
	return ""
}

func exampleOf(name string) string {
	switch name {
	case "address":
		return "address('0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af')"
	case "amount":
		return "amount(usdc, '1.50')"
	case "within":
		return "time.within('Mo-Fr 08:00-18:00 Europe/Berlin')"
	case "timestamp":
		return "timestamp('2026-11-23T09:00:00Z')"
	case "arg":
		return "effect.arg('value')"
	}
	return name + "('1')"
}

// comparison checks a text that a member with a closed list of values is
// compared with.
func (c *literalCheck) comparison(of, with ast.Expr) {
	text, ok := textOf(with)
	if !ok || of.Kind() != ast.SelectKind {
		return
	}
	closed := closedValues(c.native.GetType(of.AsSelect().Operand().ID()), of.AsSelect().FieldName())
	if closed != nil && !slices.Contains(closed, text) {
		c.fail(with, meant(fmt.Sprintf("%s is never %q", of.AsSelect().FieldName(), shorten(text)), text, closed)+
			": it is one of "+strings.Join(closed, ", "))
	}
}

// closedValues are the values that a member of text can have; nil if it can have any.
func closedValues(of *types.Type, name string) []string {
	switch {
	case of == effectType && name == "kind":
		return kindNames()
	case of == effectType && name == "by":
		return []string{string(chains.BySigner), string(chains.ByOther), string(chains.ByStanding)}
	case of == effectType && name == "bound":
		return []string{"", string(chains.BoundExact), string(chains.BoundMost), string(chains.BoundLeast),
			string(chains.BoundAll), string(chains.BoundAdded), string(chains.BoundUnlimited)}
	case of == requestType && name == "chain":
		return chainNames()
	}
	return nil
}

func kindNames() []string {
	var names []string
	for _, kind := range chains.Kinds() {
		names = append(names, string(kind))
	}
	return names
}

func chainNames() []string { return sortedKeys(chainNamespaces) }
