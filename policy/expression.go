package policy

import (
	"cmp"

	"cel.dev/cel-go/common/ast"

	"github.com/countersign-dev/countersign/internal/syntax"
)

// expression is a compiled condition. It is safe for concurrent use.
type expression struct {
	source  string
	checked *ast.AST // as written, not made strict: for checks and explanations
	in      *language
	names   map[string]bool // identifiers that it mentions
	clauses []*clause       // that && joins
}

// holds evaluates the condition. An absent condition holds. Clauses are evaluated in order until
// one does not hold; an error before that is the result.
func (x *expression) holds(e *evaluation) (bool, error) {
	e.steps++
	for _, clause := range x.parts() {
		if holds, err := clause.holds(e); err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// parts returns the clauses; none if there is no condition.
func (x *expression) parts() []*clause {
	if x == nil {
		return nil
	}
	return x.clauses
}

// steps returns an upper bound of what it costs to evaluate the condition for all effects of a
// request, one after the other, and for the request as a whole.
func (x *expression) steps(effects int) uint64 {
	sum := uint64(effects)
	for _, clause := range x.parts() {
		times := uint64(1)
		if sum += uint64(effects); clause.ofEffect {
			times = uint64(effects)
		}
		sum += times * clause.steps(effects)
	}
	return sum
}

// split plans the clauses of an expression. bars says whether what it matches is refused.
func (x *expression) split(e ast.Expr, bars bool) error {
	if syntax.IsCall(e, "_&&_") {
		return cmp.Or(x.split(e.AsCall().Args()[0], bars), x.split(e.AsCall().Args()[1], bars))
	}
	part := ast.NewCheckedAST(ast.NewAST(e, x.checked.SourceInfo()), x.checked.TypeMap(), x.checked.ReferenceMap())
	clause, err := x.in.clause(part, bars)
	x.clauses = append(x.clauses, clause)
	return err
}

// selects reports whether the condition selects a member with the name.
func (x *expression) selects(name string) bool {
	return x != nil && has(x.checked.Expr(), func(e ast.Expr) bool { return e.AsSelect().FieldName() == name })
}

// mentions reports whether the condition has a text like that.
func (x *expression) mentions(is func(string) bool) bool {
	return x != nil && mentions(x.checked.Expr(), is)
}

func mentions(e ast.Expr, is func(string) bool) bool {
	return has(e, func(part ast.Expr) bool {
		text, ok := syntax.Text(part)
		return ok && is(text)
	})
}

// has reports whether a part of an expression is one of those asked for.
func has(e ast.Expr, is func(part ast.Expr) bool) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(part ast.Expr) { found = found || is(part) }))
	return found
}

// existsOverEffects reports whether the condition uses effects.exists, other than for what is
// received.
func (x *expression) existsOverEffects() bool {
	if x == nil {
		return false
	}
	for _, macro := range x.checked.SourceInfo().MacroCalls() {
		over := syntax.IsCall(macro, "exists") && macro.AsCall().Target().AsIdent() == "effects"
		if over && !mentions(macro, isReceive) {
			return true
		}
	}
	return false
}
