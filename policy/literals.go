package policy

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/policy/internal/syntax"
)

// literalCheck checks the literals of one expression.
type literalCheck struct {
	*compiler
	native *ast.AST
	names  map[string]bool
	report func(line, column int, message string)
	fine   bool
}

// checkLiterals checks the literals of an expression: arguments of constructors must be
// well-formed, and members with a closed set of values must be compared with one of
// them. It records the names that the expression mentions.
func (c *compiler) checkLiterals(x *expression, report func(line, column int, message string)) bool {
	check := &literalCheck{c, x.checked.NativeRep(), x.names, report, true}
	ast.PreOrderVisit(x.expr(), ast.NewExprVisitor(check.visit))
	return check.fine
}

func (c *literalCheck) fail(e ast.Expr, message string) {
	location := c.native.SourceInfo().GetStartLocation(e.ID())
	c.report(location.Line(), location.Column()+1, message)
	c.fine = false
}

func (c *literalCheck) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		c.names[e.AsIdent()] = true
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
			c.fail(e, "the list is empty: this can never hold")
		}
		for _, element := range elements {
			c.comparison(call.Args()[0], element)
		}
	}
}

// constructor checks a constructor's argument.
func (c *literalCheck) constructor(e ast.Expr, name string, call ast.CallExpr) {
	last := call.Args()[len(call.Args())-1]
	text, ok := syntax.Text(last)
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
		asset, known := c.assets[call.Args()[0].AsIdent()]
		if !known {
			c.fail(call.Args()[0], "amount takes an asset of the file by its name, such as amount(usdc, '1.50')")
			return
		}
		_, err = amountOf(asset, types.String(text))
	case "arg":
	default:
		_, err = newAmount(name, text)
	}
	if err != nil {
		c.fail(last, err.Error())
	}
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

// comparison checks a literal that a member with a closed set of values is compared
// with.
func (c *literalCheck) comparison(member, with ast.Expr) {
	text, ok := syntax.Text(with)
	if !ok || member.Kind() != ast.SelectKind {
		return
	}
	name := member.AsSelect().FieldName()
	closed := closedValues(c.native.GetType(member.AsSelect().Operand().ID()), name)
	if closed != nil && !slices.Contains(closed, text) {
		c.fail(with, meant(fmt.Sprintf("%s is never %q", name, shorten(text)), text, closed)+
			": it is one of "+strings.Join(closed, ", "))
	}
}

// closedValues returns the values that a text member can have; nil if it can have any.
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
