package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/source"
)

// compile compiles a condition and checks everything that does not depend on a request.
// It adds problems with their place in the file.
func (l *language) compile(n source.Node, what string, deny bool) *expression {
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
	parsed, issues := l.env.Parse(text)
	if l.reportIssues(text, issues, report) {
		return nil
	}
	if !plainSyntax(parsed, report) {
		return nil
	}
	checked, issues := l.env.Check(parsed)
	if l.reportIssues(text, issues, report) {
		return nil
	}
	if checked.OutputType() != cel.BoolType {
		report(1, 1, "expected a condition, not a value of type "+checked.OutputType().String())
		return nil
	}
	x := &expression{source: text, checked: checked.NativeRep(), in: l, names: map[string]bool{}}
	check := &literalCheck{l, x.checked, x.names, report, true}
	if ast.PreOrderVisit(x.checked.Expr(), ast.NewExprVisitor(check.visit)); !check.fine {
		return nil
	}
	if err := x.split(x.checked.Expr(), deny); err != nil {
		report(1, 1, err.Error())
		return nil
	}
	for _, clause := range x.clauses {
		if most := clause.steps(chains.MaxEffects); most > maxExpressionCost {
			report(1, 1, fmt.Sprintf("too costly: up to %d steps for one effect, at most %d are allowed",
				most, uint64(maxExpressionCost)))
			return nil
		}
	}
	return x
}

// reportIssues reports the errors that CEL found, and whether there are any.
func (l *language) reportIssues(text string, issues *cel.Issues, report func(line, column int, message string)) bool {
	if issues == nil || issues.Err() == nil {
		return false
	}
	for i, issue := range issues.Errors() {
		if i == maxIssues {
			break
		}
		line, column := issue.Location.Line(), issue.Location.Column()
		if slip := otherOperator(issue.Message, lastWord(text, line, column)); slip != "" {
			report(line, column+1, slip)
			break // what follows is its consequence
		}
		report(line, column+1, l.rephrase(issue.Message))
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
				problem = "literals are integers, text in quotes, true and false; " +
					"amounts are written ether('0.5') or amount(usdc, '1.50')"
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

// rephrase rewrites messages of CEL's type checker in the terms of this language.
func (l *language) rephrase(message string) string {
	if name, ok := between(message, "undeclared reference to '", "'"); ok {
		if function, ok := l.literals[name]; ok {
			return name + " is a function: write " + function.example
		}
		known := slices.Concat(
			sortedKeys(l.variables()), sortedKeys(l.lists), sortedKeys(l.assets), sortedKeys(l.literals))
		if slices.Contains(known, name) {
			return name + " is not a function"
		}
		if operator := strings.ReplaceAll(name, "_", ""); !strings.ContainsFunc(operator, unicode.IsLetter) {
			return "there is no operator " + operator + ": conditions compare and do not calculate"
		}
		message = fmt.Sprintf("there is no %s here", shorten(name))
		return plaintext.Meant(message, name, known, "define it under lists or assets")
	}
	if name, ok := between(message, "undefined field '", "'"); ok {
		return l.noField(name)
	}
	name, _ := between(message, "overload for '", "'")
	operands, _ := between(message, "applied to '(", ")'")
	if function, ok := l.literals[name]; ok {
		return fmt.Sprintf("%s does not take (%s): write %s", name, operands, function.example)
	}
	switch operands {
	case "amount, int", "int, amount":
		return "an amount is compared with a bare number, which has no unit: " +
			"write ether('0.5'), units('500') or amount(usdc, '1.50')"
	case "address, string", "string, address":
		return "an address is compared with text: write address('0x…')"
	}
	return message
}

// noField says that there is no such member, and which object has one, if any.
func (l *language) noField(name string) string {
	var names, owners []string
	for kind, fields := range l.members {
		if _, ok := fields[name]; ok {
			owners = append(owners, kind.TypeName())
		}
		names = append(names, sortedKeys(fields)...)
	}
	message := fmt.Sprintf("there is no member %s here", shorten(name))
	if len(owners) > 0 {
		return message + ": " + slices.Min(owners) + " has one"
	}
	slices.Sort(names)
	return source.Meant(message, name, names)
}

func between(text, before, after string) (string, bool) {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, after)
	return inner, ok
}

// maxExpressionCost bounds the cost of evaluating one condition, in CEL's unit, a step of
// about 20 to 50 ns. It leaves room for one loop over the effects of the largest
// transaction, but not for nested loops.
const maxExpressionCost = 100_000

// maxSteps bounds the steps that the judgement of one request takes, the same everywhere: about
// 100 ms. minEffects is the number of effects of a request that every file can judge.
const (
	maxSteps   = 2_000_000
	minEffects = 32
)

// maxText is an upper bound for the texts that conditions read, in characters.
const maxText = 1024

// sizes estimates the sizes of values. It implements cost.Estimator.
type sizes struct {
	*language
	effects uint64
}

func (s sizes) EstimateSize(element cost.AstNode) *cost.SizeEstimate {
	kind := element.Type()
	switch {
	case kind == nil:
		return nil
	case kind.Kind() == types.ListKind:
		return &cost.SizeEstimate{Min: 0, Max: s.listSize(element.Path())}
	case kind.Kind() == types.StringKind:
		return &cost.SizeEstimate{Min: 0, Max: maxText}
	case kind == amountType || kind == addressType || kind.Kind() == types.StructKind:
		return &cost.SizeEstimate{Min: 1, Max: 1}
	}
	return nil
}

// listSize returns an upper bound for the size of the list at a path.
func (s sizes) listSize(path []string) uint64 {
	if list := s.named(path); list != nil {
		return uint64(len(list.addresses))
	}
	return s.effects
}

// named returns the list of the file at a path, or nil.
func (s sizes) named(path []string) *list {
	if len(path) != 1 {
		return nil
	}
	return s.lists[path[0]]
}

func (s sizes) EstimateCallCost(function, _ string, _ *cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	estimate := func(units uint64) *cost.CallEstimate {
		return &cost.CallEstimate{CostEstimate: cost.FixedCostEstimate(units)}
	}
	_, isLiteral := s.literals[function]
	switch {
	case function == "total":
		return estimate(s.effects)
	case isLiteral:
		return estimate(4)
	case function == "@in" && len(args) == 2 && args[1].Type().Kind() == types.ListKind:
		if s.named(args[1].Path()) != nil {
			return estimate(4) // one look-up
		}
		if size := args[1].ComputedSize(); size != nil {
			return estimate(size.Max)
		}
		return estimate(s.listSize(args[1].Path()))
	case function == "_==_" || function == "_!=_":
		return estimate(2)
	}
	return nil
}
