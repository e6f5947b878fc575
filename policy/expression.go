package policy

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// expression is a condition that was compiled. It is safe for concurrent use.
type expression struct {
	source  string
	parsed  *cel.Ast // as it is written, for explanations
	program cel.Program
	env     *cel.Env
	cost    uint64 // at most, of one evaluation
	looksAt map[string]bool
}

// holds evaluates the condition. Every error counts: && and || do not absorb
// one, whichever side it is on, unless the side before it has decided already.
func (x *expression) holds(with *evaluation) (bool, error) {
	if x == nil {
		return true, nil
	}
	value, _, err := x.program.Eval(with)
	if err != nil {
		return false, err
	}
	held, ok := value.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the condition is no truth value but a %s", value.Type().TypeName())
	}
	return bool(held), nil
}

// compile reads a condition and checks all that can be checked before there is
// a request. What is wrong is added to the problems, with its place in the file.
func (c *compiler) compile(source node, what string) *expression {
	text := source.text(what)
	report := func(line, column int, message string) {
		at := source.textPlace(line, column)
		c.problems.add(at, source.rule, "%s", message)
	}
	switch {
	case len(text) > MaxExpression:
		source.fail("%s: %d characters, at most %d are allowed", what, len(text), MaxExpression)
		return nil
	case strings.TrimSpace(text) == "":
		source.fail("%s is empty", what)
		return nil
	}
	parsed, issues := c.env.Parse(text)
	if c.reportIssues(issues, report) {
		return nil
	}
	if !plainSyntax(parsed, report) {
		return nil
	}
	checked, issues := c.env.Check(parsed)
	if c.reportIssues(issues, report) {
		return nil
	}
	if checked.OutputType() != cel.BoolType {
		report(1, 1, "a condition is expected, this is a "+checked.OutputType().String())
		return nil
	}
	return c.plan(text, checked, report)
}

// plan checks literals and cost, and makes the program.
func (c *compiler) plan(text string, checked *cel.Ast, report func(line, column int, message string)) *expression {
	made := &expression{source: text, parsed: checked, env: c.env, looksAt: map[string]bool{}}
	if !c.checkLiterals(checked, made, report) {
		return nil
	}
	estimate, err := c.env.EstimateCost(checked, sizes{c.lists})
	if err != nil || estimate.Max > MaxExpressionCost {
		report(1, 1, fmt.Sprintf("too costly: up to %d steps for one effect, at most %d are allowed", estimate.Max, uint64(MaxExpressionCost)))
		return nil
	}
	made.cost = estimate.Max
	if made.program, err = c.program(text, made.hasLoop(), cel.EvalOptions(cel.OptOptimize)); err != nil {
		report(1, 1, err.Error())
		return nil
	}
	return made
}

// program plans the strict form of an expression.
func (c *compiler) program(text string, loops bool, options ...cel.ProgramOption) (cel.Program, error) {
	return newProgram(c.env, text, loops, options...)
}

func newProgram(env *cel.Env, text string, loops bool, options ...cel.ProgramOption) (cel.Program, error) {
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	makeStrict(parsed.NativeRep().Expr())
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	if loops {
		options = append(options, cel.CostLimit(2*MaxExpressionCost)) // beyond the estimate: only if that were wrong
	}
	return env.Program(checked, append(options, cel.CustomDecorator(foldLiterals))...)
}

// makeStrict turns a && b into a ? b : false and a || b into a ? true : b, also
// within macros. CEL takes err && false for false and err || true for true; here
// an error is the result, as nothing else is safe in a deny.
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

// foldLiterals evaluates the constructors of amounts, addresses and times when
// the program is planned.
func foldLiterals(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok || !literalFunctions[call.Function()] {
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

// reportIssues adds what CEL finds wrong; true if anything is.
func (c *compiler) reportIssues(issues *cel.Issues, report func(line, column int, message string)) bool {
	if issues == nil || issues.Err() == nil {
		return false
	}
	for i, one := range issues.Errors() {
		if i == maxIssues {
			break
		}
		report(one.Location.Line(), one.Location.Column()+1, c.plainer(one.Message))
	}
	return true
}

// maxIssues bounds what is said of one expression.
const maxIssues = 5

// plainSyntax refuses what the language has no use for: maps, messages, and
// numbers other than integers.
func plainSyntax(parsed *cel.Ast, report func(line, column int, message string)) bool {
	fine := true
	native := parsed.NativeRep()
	ast.PreOrderVisit(native.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		var problem string
		switch e.Kind() {
		case ast.MapKind, ast.StructKind:
			problem = "expressions make no maps or messages"
		case ast.LiteralKind:
			switch e.AsLiteral().Type() {
			case types.DoubleType, types.UintType, types.BytesType, types.NullType:
				problem = "only integers, text in quotes, true and false are written here; amounts are ether('0.5') or amount(usdc, '1.50')"
			}
		}
		if problem != "" && fine {
			at := native.SourceInfo().GetStartLocation(e.ID())
			report(at.Line(), at.Column()+1, problem)
			fine = false
		}
	}))
	return fine
}

// textOf is an argument that is a literal text.
func textOf(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().(types.String)
	return string(text), ok
}
