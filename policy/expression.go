package policy

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
	"github.com/countersign-dev/countersign/internal/source"
)

// expression is a compiled condition. It is safe for concurrent use.
type expression struct {
	source  string
	checked *cel.Ast // as written, not made strict: for explanations
	program cel.Program
	env     *cel.Env
	cost    uint64          // upper bound of one evaluation
	names   map[string]bool // identifiers that it mentions
	bars    bool            // of a deny: what matches is refused
}

func (x *expression) expr() ast.Expr { return x.checked.NativeRep().Expr() }

// holds evaluates the condition. An absent condition holds. Operands of && and || are
// evaluated from left to right until one decides; an error before that is the result.
func (x *expression) holds(e *evaluation) (bool, error) {
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

// compile compiles a condition and checks everything that does not depend on a request.
// It adds problems with their place in the file.
func (c *compiler) compile(n source.Node, what string, deny bool) *expression {
	text := n.Text(what)
	report := n.FailText
	switch {
	case len(text) > maxExpression:
		n.Fail("%s: %d bytes, at most %d are allowed", what, len(text), maxExpression)
		return nil
	case strings.TrimSpace(text) == "":
		n.Fail("%s is empty", what)
		return nil
	}
	parsed, issues := c.env.Parse(text)
	if c.reportIssues(text, issues, report) {
		return nil
	}
	if !plainSyntax(parsed, report) {
		return nil
	}
	checked, issues := c.env.Check(parsed)
	if c.reportIssues(text, issues, report) {
		return nil
	}
	if checked.OutputType() != cel.BoolType {
		report(1, 1, "expected a condition, not a value of type "+checked.OutputType().String())
		return nil
	}
	return c.plan(&expression{source: text, checked: checked, env: c.env, names: map[string]bool{}, bars: deny}, report)
}

// plan checks literals and cost, and plans the program.
func (c *compiler) plan(x *expression, report func(line, column int, message string)) *expression {
	if !c.checkLiterals(x, report) {
		return nil
	}
	estimate, err := c.env.EstimateCost(x.checked, sizes{c.lists})
	if err != nil || estimate.Max > maxExpressionCost {
		report(1, 1, fmt.Sprintf("too costly: up to %d steps for one effect, at most %d are allowed", estimate.Max, uint64(maxExpressionCost)))
		return nil
	}
	x.cost = estimate.Max
	if x.program, err = newProgram(c.env, x.source, x.bars, x.cost > loopCost, cel.EvalOptions(cel.OptOptimize)); err != nil {
		report(1, 1, err.Error())
		return nil
	}
	return x
}

// loopCost is exceeded by expressions that iterate over effects.
const loopCost = 512

// newProgram plans the strict form of an expression. bars says whether what it matches is refused.
func newProgram(env *cel.Env, text string, bars, loops bool, options ...cel.ProgramOption) (cel.Program, error) {
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	barLists(parsed.NativeRep().Expr(), bars)
	makeStrict(parsed.NativeRep().Expr())
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	if loops {
		options = append(options, cel.CostLimit(2*maxExpressionCost)) // reached only if the estimate were wrong
	}
	return env.Program(checked, append(options, cel.CustomDecorator(foldLiterals))...)
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
func foldLiterals(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	if _, ok := words().literals[call.Function()]; !ok {
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

// reportIssues reports the errors that CEL found, and whether there are any.
func (c *compiler) reportIssues(text string, issues *cel.Issues, report func(line, column int, message string)) bool {
	if issues == nil || issues.Err() == nil {
		return false
	}
	for i, issue := range issues.Errors() {
		if i == maxIssues {
			break
		}
		if slip := otherOperator(issue.Message, lastWord(text, issue.Location.Line(), issue.Location.Column())); slip != "" {
			report(issue.Location.Line(), issue.Location.Column()+1, slip)
			break // what follows is its consequence
		}
		report(issue.Location.Line(), issue.Location.Column()+1, c.rephrase(issue.Message))
	}
	return true
}

// operators are those of other languages, as CEL's errors quote them, and those of CEL.
var operators = []struct{ quoted, cure string }{
	{"token recognition error at: '= '", "write == to compare"},
	{"token recognition error at: '=", "write == to compare"},
	{"mismatched input 'and'", "write && for and"},
	{"mismatched input 'AND'", "write && for and"},
	{"mismatched input 'or'", "write || for or"},
	{"mismatched input 'OR'", "write || for or"},
	{"token recognition error at: '& '", "write && for and"},
	{"token recognition error at: '| '", "write || for or"},
}

// otherOperator says how CEL writes the operator of another language that an error is about,
// or "". The message is about what follows word.
func otherOperator(message, word string) string {
	switch {
	case word == "not" || word == "NOT":
		return "write ! for not"
	case word == "<" && strings.Contains(message, "input '>'"):
		return "write != for unequal"
	}
	for _, other := range operators {
		if strings.Contains(message, other.quoted) {
			return other.cure
		}
	}
	return ""
}

// maxIssues bounds the errors that are reported for one expression.
const maxIssues = 5

// lastWord returns the last word before a place in an expression.
func lastWord(text string, line, column int) string {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	before := []rune(lines[line-1])
	words := strings.Fields(string(before[:min(max(column, 0), len(before))]))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// plainSyntax refuses syntax that the language does not support: maps, messages, and
// numbers other than integers.
func plainSyntax(parsed *cel.Ast, report func(line, column int, message string)) bool {
	fine := true
	native := parsed.NativeRep()
	ast.PreOrderVisit(native.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		var problem string
		switch e.Kind() {
		case ast.MapKind, ast.StructKind:
			problem = "expressions cannot create maps or messages"
		case ast.LiteralKind:
			switch e.AsLiteral().Type() {
			case types.DoubleType, types.UintType, types.BytesType, types.NullType:
				problem = "literals are integers, text in quotes, true and false; amounts are written ether('0.5') or amount(usdc, '1.50')"
			}
		}
		if problem != "" && fine {
			location := native.SourceInfo().GetStartLocation(e.ID())
			report(location.Line(), location.Column()+1, problem)
			fine = false
		}
	}))
	return fine
}
