package policy

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// literalCheck checks the literals of one expression: arguments of constructors must be well-formed,
// and members with a closed set of values must be compared with one of them. It records the names
// that the expression mentions.
type literalCheck struct {
	*language
	native *ast.AST
	names  map[string]bool
	report func(line, column int, message string)
	fine   bool
}

func (c *literalCheck) Fail(e ast.Expr, message string) {
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
	_, isLiteral := c.literals[name]
	switch {
	case isLiteral:
		c.constructor(name, call)
	case name == "_==_" || name == "_!=_":
		c.comparison(call.Args()[0], call.Args()[1])
		c.comparison(call.Args()[1], call.Args()[0])
	case name == "@in" && call.Args()[1].Kind() == ast.ListKind:
		elements := call.Args()[1].AsList().Elements()
		if len(elements) == 0 {
			c.Fail(e, "the list is empty: this can never hold")
		}
		for _, element := range elements {
			c.comparison(call.Args()[0], element)
		}
	}
}

func (c *literalCheck) constructor(name string, call ast.CallExpr) {
	function, last := c.literals[name], call.Args()[len(call.Args())-1]
	text, ok := syntax.Text(last)
	if !ok {
		c.Fail(last, name+" takes a text in quotes, such as "+function.example)
		return
	}
	check := function.check
	switch {
	case name == "value" && c.prices == nil:
		c.Fail(last, "value needs the file to have prices")
	case name == "value":
		c.prices.used = true
	}
	if name == "amount" {
		asset, known := c.assets[call.Args()[0].AsIdent()]
		if !known {
			c.Fail(call.Args()[0], "amount takes an asset of the file by its name, such as "+function.example)
			return
		}
		check = failure(func(text string) (ref.Val, error) { return amountOf(asset, types.String(text)) })
	}
	if check == nil {
		return
	}
	if err := check(text); err != nil {
		c.Fail(last, err.Error())
	}
}

// comparison checks a literal that a member with a closed set of values is compared
// with.
func (c *literalCheck) comparison(member, with ast.Expr) {
	text, ok := syntax.Text(with)
	if !ok || member.Kind() != ast.SelectKind {
		return
	}
	name := member.AsSelect().FieldName()
	closed := c.closedValues(c.native.GetType(member.AsSelect().Operand().ID()), name)
	if closed != nil && !slices.Contains(closed, text) {
		c.Fail(with, source.Meant(fmt.Sprintf("%s is never %q", name, shorten(text)), text, closed)+
			": it is one of "+strings.Join(closed, ", "))
	}
}

// closedValues returns the values that a text member can have; nil if it can have any.
func (l *language) closedValues(of *types.Type, name string) []string {
	switch {
	case of == effectType && name == "kind":
		return kindNames()
	case of == effectType && name == "by":
		return []string{string(chains.BySigner), string(chains.ByOther), string(chains.ByStanding)}
	case of == effectType && name == "bound":
		return []string{"", string(chains.BoundExact), string(chains.BoundMost), string(chains.BoundLeast),
			string(chains.BoundAll), string(chains.BoundAdded), string(chains.BoundUnlimited)}
	case of == requestType && name == "chain":
		return l.words.names()
	}
	return nil
}
