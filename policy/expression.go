package policy

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
	"cel.dev/cel-go/parser"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// expression is a compiled condition. It is safe for concurrent use.
type expression struct {
	source  string
	checked *cel.Ast // as written, not made strict: for explanations
	program cel.Program
	in      *language
	cost    uint64          // upper bound of one evaluation
	names   map[string]bool // identifiers that it mentions
	bars    bool            // of a deny: what matches is refused
}

func (x *expression) expr() ast.Expr { return x.checked.NativeRep().Expr() }

// holds evaluates the condition. An absent condition holds. Operands of && and || are
// evaluated from left to right until one decides; an error before that is the result.
func (x *expression) holds(e interpreter.Activation) (bool, error) {
	if x == nil {
		return true, nil
	}
	value, _, err := x.program.Eval(e)
	if err != nil {
		return false, err
	}
	truth, ok := value.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the condition is a %s, not true or false", value.Type().TypeName())
	}
	return bool(truth), nil
}

// loopCost is exceeded by expressions that iterate over effects.
const loopCost = 512

// program plans the strict form of an expression. bars says whether what it matches is refused.
func (l *language) program(text string, bars, loops bool, options ...cel.ProgramOption) (cel.Program, error) {
	parsed, issues := l.env.Parse(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	barLists(parsed.NativeRep().Expr(), bars)
	makeStrict(parsed.NativeRep().Expr())
	checked, issues := l.env.Check(parsed)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	if loops {
		options = append(options, cel.CostLimit(2*maxExpressionCost)) // reached only if the estimate were wrong
	}
	return l.env.Program(checked, append(options, cel.CustomDecorator(l.foldLiterals))...)
}

// makeStrict turns a && b into a ? b : false and a || b into a ? true : b, also within
// macros. In CEL, error && false is false and error || true is true; here the result is
// the error, because a deny with an error must deny.
func makeStrict(expr ast.Expr) {
	factory := ast.NewExprFactory()
	visitor := ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
			return
		}
		call := e.AsCall()
		left, right := call.Args()[0], call.Args()[1]
		switch call.FunctionName() {
		case "_&&_":
			e.SetKindCase(factory.NewCall(e.ID(), "_?_:_", left, right, factory.NewLiteral(e.ID(), types.False)))
		case "_||_":
			e.SetKindCase(factory.NewCall(e.ID(), "_?_:_", left, factory.NewLiteral(e.ID(), types.True), right))
		}
	})
	ast.PostOrderVisit(expr, visitor)
}

// foldLiterals evaluates constructors of amounts, addresses and times when the program
// is planned.
func (l *language) foldLiterals(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	if _, ok := l.literals[call.Function()]; !ok {
		return i, nil
	}
	for _, arg := range call.Args() {
		if _, constant := arg.(interpreter.InterpretableConst); !constant {
			return i, nil
		}
	}
	value := i.Eval(interpreter.EmptyActivation())
	if types.IsError(value) {
		return nil, value.(*types.Err)
	}
	return interpreter.NewConstValue(i.ID(), value), nil
}

// barLists rewrites the lists of a condition where a match refuses: in a deny, and under ! in
// an allow. Where that cannot be told, as in a filter, an address is itself.
func barLists(e ast.Expr, bars bool) {
	if e.Kind() == ast.ComprehensionKind {
		barLists(e.AsComprehension().LoopStep(), bars)
		return
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case "_&&_", "_||_":
		barLists(args[0], bars)
		barLists(args[1], bars)
	case "!_":
		barLists(args[0], !bars)
	case "_?_:_":
		barLists(args[1], bars)
		barLists(args[2], bars)
	case "@in":
		if name := args[1].AsIdent(); bars && name != "" {
			args[1].SetKindCase(ast.NewExprFactory().NewIdent(args[1].ID(), barred+name))
		}
	}
}

// selects reports whether the condition selects a member with the name.
func (x *expression) selects(name string) bool {
	selected := false
	if x != nil {
		ast.PreOrderVisit(x.expr(), ast.NewExprVisitor(func(e ast.Expr) {
			selected = selected || e.AsSelect().FieldName() == name
		}))
	}
	return selected
}

// mentions reports whether the condition has a text like that.
func (x *expression) mentions(is func(string) bool) bool { return x != nil && mentions(x.expr(), is) }

func mentions(e ast.Expr, is func(string) bool) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		text, ok := syntax.Text(e)
		found = found || ok && is(text)
	}))
	return found
}

// existsOverEffects reports whether the condition uses effects.exists, other than for what is
// received.
func (x *expression) existsOverEffects() bool {
	if x == nil {
		return false
	}
	for _, macro := range x.checked.NativeRep().SourceInfo().MacroCalls() {
		if syntax.IsCall(macro, "exists") && macro.AsCall().Target().AsIdent() == "effects" && !mentions(macro, isReceive) {
			return true
		}
	}
	return false
}

// calls reports whether the condition calls a function.
func (x *expression) calls(name string) (called bool) {
	ast.PreOrderVisit(x.expr(), ast.NewExprVisitor(func(e ast.Expr) { called = called || syntax.IsCall(e, name) }))
	return called
}

// clause is a part of a condition.
type clause struct {
	source string
	in     *language
	bars   bool // see expression
}

// clauses returns the parts of the condition that && joins; none if there is no
// condition.
func (x *expression) clauses() []clause {
	if x == nil {
		return nil
	}
	var clauses []clause
	var split func(ast.Expr)
	split = func(e ast.Expr) {
		if syntax.IsCall(e, "_&&_") {
			for _, arg := range e.AsCall().Args() {
				split(arg)
			}
			return
		}
		text, err := parser.Unparse(e, x.checked.NativeRep().SourceInfo())
		if err != nil {
			text = x.source
		}
		clauses = append(clauses, clause{text, x.in, x.bars})
	}
	split(x.expr())
	return clauses
}

func (c clause) evaluate(e interpreter.Activation) (bool, error) {
	program, err := c.in.program(c.source, c.bars, true)
	if err != nil {
		return false, err
	}
	value, _, err := program.Eval(e)
	return err == nil && value == types.True, err
}
