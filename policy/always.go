package policy

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/parser"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// supposition evaluates a condition without a request: each test that depends on one is
// supposed to have some outcome. A condition that holds for all combinations of outcomes
// always holds, or is an error.
type supposition struct {
	of     *language
	info   *ast.SourceInfo
	kinds  []chains.Kind       // that effect.kind can be; nil: any
	values map[string][]string // the outcomes of each test, in the order of tests
	tests  []string
	given  map[string]string
}

func newSupposition(of *language, info *ast.SourceInfo) *supposition {
	return &supposition{of: of, info: info, values: map[string][]string{}, given: map[string]string{}}
}

// maxSuppositions bounds the combinations of outcomes; of larger conditions nothing is said.
const maxSuppositions = 1 << 12

// The outcomes of a test.
const (
	yes = "yes"
	no  = "no"
)

// constant returns whether an expression has the same value for every request. ok is false if it
// has not, or if that was not found out.
func (s *supposition) constant(e ast.Expr) (value, ok bool) {
	value = s.holds(e) // finds the tests
	combinations := 1
	for _, test := range s.tests {
		if combinations *= len(s.values[test]); combinations > maxSuppositions {
			return false, false
		}
	}
	for number := range combinations {
		for _, test := range s.tests {
			outcomes := s.values[test]
			s.given[test] = outcomes[number%len(outcomes)]
			number /= len(outcomes)
		}
		if s.holds(e) != value {
			return false, false
		}
	}
	return value, true
}

// outcome returns the supposed outcome of a test, which has one of the given ones.
func (s *supposition) outcome(test string, outcomes ...string) string {
	if _, known := s.values[test]; !known {
		s.values[test], s.given[test] = outcomes, outcomes[0]
		s.tests = append(s.tests, test)
	}
	return s.given[test]
}

func (s *supposition) text(e ast.Expr) string {
	text, err := parser.Unparse(e, s.info)
	if err != nil {
		return ""
	}
	return text
}

// supposed returns the outcome of a test that is an expression.
func (s *supposition) supposed(e ast.Expr) bool { return s.outcome(s.text(e), yes, no) == yes }

// holds evaluates an expression with the outcomes that are given. It evaluates all operands,
// so that each test is found.
func (s *supposition) holds(e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind:
		return e.AsLiteral() == types.True
	case ast.SelectKind:
		return s.alwaysPresent(e.AsSelect()) || s.supposed(e)
	case ast.ComprehensionKind:
		return s.macro(e)
	case ast.CallKind:
		return s.call(e, e.AsCall().FunctionName(), e.AsCall().Args())
	}
	return s.supposed(e)
}

func (s *supposition) call(e ast.Expr, name string, args []ast.Expr) bool {
	switch name {
	case "_&&_":
		left, right := s.holds(args[0]), s.holds(args[1])
		return left && right
	case "_||_":
		left, right := s.holds(args[0]), s.holds(args[1])
		return left || right
	case "!_":
		return !s.holds(args[0])
	case "_?_:_":
		when, then, otherwise := s.holds(args[0]), s.holds(args[1]), s.holds(args[2])
		return when && then || !when && otherwise
	case "_==_":
		return s.equal(args[0], args[1])
	case "_!=_":
		return !s.equal(args[0], args[1])
	case "_<_":
		return s.less(args[0], args[1])
	case "_>=_":
		return !s.less(args[0], args[1])
	case "_>_":
		return s.less(args[1], args[0])
	case "_<=_":
		return !s.less(args[1], args[0])
	case "@in":
		if args[1].Kind() != ast.ListKind {
			break
		}
		found := false
		for _, element := range args[1].AsList().Elements() {
			found = s.equal(args[0], element) || found
		}
		return found
	case "startsWith", "endsWith", "contains":
		if text, ok := syntax.Text(args[0]); ok && text == "" {
			return true
		}
	}
	return s.supposed(e)
}

// equal supposes whether two values are equal.
func (s *supposition) equal(a, b ast.Expr) bool {
	if a.Kind() == ast.LiteralKind && b.Kind() == ast.LiteralKind {
		return a.AsLiteral().Equal(b.AsLiteral()) == types.True
	}
	left, right := s.text(a), s.text(b)
	for _, side := range [][2]ast.Expr{{a, b}, {b, a}} {
		if text, ok := syntax.Text(side[1]); ok && syntax.Path(side[0]) == "effect.kind" && s.kinds != nil {
			return s.outcome("effect.kind", kindTexts(s.kinds)...) == text
		}
	}
	if left > right {
		left, right = right, left
	}
	return left == right || s.outcome(left+" == "+right, yes, no) == yes
}

// less supposes whether a value is below another. Nothing is below zero.
func (s *supposition) less(a, b ast.Expr) bool {
	left, right := s.text(a), s.text(b)
	x, isX := a.AsLiteral().(types.Int)
	y, isY := b.AsLiteral().(types.Int)
	switch {
	case left == right, s.isZero(b), isY && y <= 0 && syntax.IsCall(a, "size"):
		return false
	case isX && isY:
		return x < y
	}
	return s.outcome(left+" < "+right, yes, no) == yes
}

// isZero reports whether an expression is an amount of zero.
func (s *supposition) isZero(e ast.Expr) bool {
	if _, isUnit := s.of.words.units[e.AsCall().FunctionName()]; !isUnit || len(e.AsCall().Args()) != 1 {
		return false
	}
	text, ok := syntax.Text(e.AsCall().Args()[0])
	value, err := parseUnits(text, maxDecimals)
	return ok && err == nil && value.Sign() == 0
}

// macro supposes whether all elements of a list have a property, or one of them.
func (s *supposition) macro(e ast.Expr) bool {
	loop := e.AsComprehension()
	every, some := syntax.IsCall(loop.LoopStep(), "_&&_"), syntax.IsCall(loop.LoopStep(), "_||_")
	if !every && !some {
		return s.supposed(e)
	}
	elements := loop.IterRange()
	isList := elements.Kind() == ast.ListKind
	if isList && len(elements.AsList().Elements()) == 0 {
		return every
	}
	value, constant := newSupposition(s.of, s.info).constant(loop.LoopStep().AsCall().Args()[1])
	switch {
	case constant && value == every:
		return every
	case constant && (isList || elements.AsIdent() == "effects"): // of which there is one, or no rule is asked
		return value
	}
	return s.supposed(e)
}

// alwaysPresent reports whether a test is has() of a member of a variable, and true for every request.
func (s *supposition) alwaysPresent(e ast.SelectExpr) bool {
	of := map[string]*types.Type{"effect": effectType, "request": requestType, "time": timeType, "user": userType}
	kind, known := of[e.Operand().AsIdent()]
	return e.IsTestOnly() && known && s.of.members[kind][e.FieldName()].always
}
