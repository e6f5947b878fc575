package policy

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
	"cel.dev/cel-go/parser"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// clause is a part of conditions that && joins with others. Equal clauses of a file are one.
type clause struct {
	index   int // in the clauses of the language
	source  string
	in      *language
	program cel.Program   // of its strict form
	quick   *comparison   // nil: the program decides
	meaning func() string // see meaningOf
	// It is about the effect that is judged, or those beside it; told, see barLists.
	ofEffect, ofOthers, told bool
	least, most              uint64 // upper bounds of its cost in CEL's unit: with one effect, and with the most
}

// clause returns the clause that is an expression. bars says whether what it matches is refused.
func (l *language) clause(of *ast.AST, bars bool) (*clause, error) {
	text, err := parser.Unparse(of.Expr(), of.SourceInfo())
	if err != nil {
		return nil, err
	}
	key := clauseKey{text, bars}
	if known, ok := l.clauses[key]; ok {
		return known, nil
	}
	c := &clause{index: len(l.clauses), source: text, in: l}
	c.meaning = sync.OnceValue(c.meaningOf)
	least, err := cost.Cost(of, sizes{l, 1})
	if err != nil {
		return nil, err
	}
	most, err := cost.Cost(of, sizes{l, chains.MaxEffects})
	if err != nil {
		return nil, err
	}
	c.least, c.most = least.Max, most.Max
	l.clauses[key] = c
	strict := ast.Copy(of)
	c.told = l.barLists(strict, strict.Expr(), bars)
	makeStrict(strict)
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize), cel.CustomDecorator(l.foldLiterals)}
	loops := false
	ast.PreOrderVisit(strict.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		_, isDetail := l.words.roots[e.AsIdent()]
		c.ofEffect = c.ofEffect || e.AsIdent() == "effect"
		c.ofOthers = c.ofOthers || isDetail || e.AsIdent() == "effects"
		loops = loops || e.Kind() == ast.ComprehensionKind
	}))
	if loops {
		options = append(options, cel.CostLimit(2*maxExpressionCost)) // reached only if the estimate were wrong
	}
	root := strict.Expr()
	options = append(options, cel.CustomDecorator(func(i interpreter.Interpretable) (interpreter.Interpretable, error) {
		if call, ok := i.(interpreter.InterpretableCall); ok && i.ID() == root.ID() {
			c.quick = l.comparison(root, call)
		}
		return i, nil
	}))
	c.program, err = l.env.PlanProgram(strict, options...)
	return c, err
}

// clauseKey is what equal clauses share. What bars differs: see barList.
type clauseKey struct {
	source string
	bars   bool
}

// planned is what the evaluation of a program costs besides its operations, in their unit.
const planned = 10

// steps returns an upper bound of what it costs to evaluate the clause for a request of a number
// of effects.
func (c *clause) steps(effects int) uint64 {
	if c.quick != nil {
		return 1
	}
	return planned + c.least + (c.most-c.least)*uint64(effects)/chains.MaxEffects
}

// holds reports whether the clause holds. What it says of an effect is found out once for a request.
func (c *clause) holds(e *evaluation) (bool, error) {
	e.steps++
	if c.quick != nil && e.current != nil {
		return c.quick.holds(e.current)
	}
	asked := question{clause: c.index, effect: -1}
	if c.ofEffect {
		asked.effect = indexOf(e.current)
	}
	if c.ofOthers {
		asked.sight = e.sight()
	}
	if answer, known := e.answers[asked]; known {
		return answer.holds, answer.err
	}
	e.steps += c.steps(len(e.effects))
	value, _, err := c.program.Eval(e)
	holds := value == types.True
	if e.answers == nil {
		e.answers = map[question]answer{}
	}
	if len(e.answers) < e.most {
		e.answers[asked] = answer{holds, err}
	}
	return holds, err
}

// comparison is a clause that compares a member of the effect with a constant, which needs no
// program.
type comparison struct {
	member int // index in the members of effects that are compared
	get    func(of any) (ref.Val, error)
	op     string
	with   ref.Val
}

// comparison returns a call in that form, nil if it has another.
func (l *language) comparison(e ast.Expr, call interpreter.InterpretableCall) *comparison {
	args := e.AsCall().Args()
	if !slices.Contains([]string{"_==_", "_<_", "_<=_", "_>_", "_>=_", "@in"}, call.Function()) || len(args) != 2 {
		return nil
	}
	name, ofEffect := strings.CutPrefix(syntax.Path(args[0]), "effect.")
	field, known := l.members[effectType][name]
	constant, isConstant := call.Args()[1].(interpreter.InterpretableConst)
	if !ofEffect || !known || !isConstant || args[0].AsSelect().IsTestOnly() {
		return nil
	}
	if _, isList := constant.Value().(traits.Container); call.Function() == "@in" && !isList {
		return nil
	}
	index := slices.Index(l.compared, name)
	if index < 0 {
		if index = len(l.compared); index == maxCompared {
			return nil
		}
		l.compared = append(l.compared, name)
	}
	return &comparison{index, field.get, call.Function(), constant.Value()}
}

// holds reports whether the comparison holds for an effect, as its program would.
func (c *comparison) holds(effect *effectView) (bool, error) {
	member := &effect.members[c.member]
	if member.value == nil && member.err == nil {
		member.value, member.err = c.get(effect)
	}
	if member.err != nil {
		return false, member.err
	}
	value, result := member.value, ref.Val(nil)
	switch c.op {
	case "_==_":
		result = types.Equal(value, c.with)
	case "@in":
		result = c.with.(traits.Container).Contains(value)
	default:
		if result = value.(traits.Comparer).Compare(c.with); !types.IsError(result) {
			order := result.(types.Int)
			result = types.Bool(c.op == "_<_" && order < 0 || c.op == "_<=_" && order <= 0 ||
				c.op == "_>_" && order > 0 || c.op == "_>=_" && order >= 0)
		}
	}
	if types.IsError(result) {
		return false, result.(*types.Err)
	}
	return result == types.True, nil
}

// foldLiterals evaluates constructors of amounts, addresses and times when the program is planned.
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

// makeStrict turns a && b into a ? b : false and a || b into a ? true : b, also within
// macros. In CEL, error && false is false and error || true is true; here the result is
// the error, because a deny with an error must deny.
func makeStrict(of *ast.AST) {
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
		default:
			return
		}
		of.SetReference(e.ID(), ast.NewFunctionReference(overloads.Conditional))
	})
	ast.PostOrderVisit(of.Expr(), visitor)
}

// barLists replaces the lists and comparisons of addresses where a match refuses: in a deny, and under !
// in an allow. Where that cannot be told, as in a filter, an address is itself, and told is false.
func (l *language) barLists(of *ast.AST, e ast.Expr, bars bool) (told bool) {
	tests := func(part ast.Expr) bool {
		args := part.AsCall().Args()
		return slices.Contains([]string{"_==_", "_!=_", "@in"}, part.AsCall().FunctionName()) &&
			of.GetType(args[0].ID()).IsExactType(addressType)
	}
	if e.Kind() == ast.ComprehensionKind {
		loop := e.AsComprehension()
		return l.barLists(of, loop.LoopStep(), bars) && !has(loop.IterRange(), tests)
	}
	args, name := e.AsCall().Args(), e.AsCall().FunctionName()
	switch name {
	case "_&&_", "_||_", "_?_:_":
		told = len(args) == 2 || !has(args[0], tests)
		for _, arg := range args[len(args)-2:] {
			told = l.barLists(of, arg, bars) && told
		}
		return told
	case "!_":
		return l.barLists(of, args[0], !bars)
	case "_==_", "_!=_":
		for i, arg := range args {
			if holds, isBool := arg.AsLiteral().(types.Bool); isBool {
				return l.barLists(of, args[1-i], bars == (bool(holds) == (name == "_==_")))
			}
		}
		if tests(e) {
			if bars == (name == "_==_") {
				e.SetKindCase(ast.NewExprFactory().NewCall(e.ID(), "@is"+name, args...))
				of.SetReference(e.ID(), ast.NewFunctionReference("@is"+name))
			}
			return true
		}
	case "@in":
		list := l.listed(args[1])
		if bars && list != nil && len(list.set) > 0 {
			args[1].SetKindCase(ast.NewExprFactory().NewIdent(args[1].ID(), "list"))
			of.SetReference(args[1].ID(), ast.NewIdentReference("list", barList{list}))
		}
		return list != nil || !tests(e)
	}
	return !has(e, tests)
}

// listed returns the list of the file that an expression names, or that of the addresses that it
// writes out; nil if it does neither.
func (l *language) listed(e ast.Expr) *addressList {
	if list := l.lists[e.AsIdent()]; list != nil {
		return list.value
	}
	var written []*address
	for _, element := range e.AsList().Elements() {
		if element.AsCall().FunctionName() != "address" {
			return nil
		}
		text, _ := syntax.Text(element.AsCall().Args()[0])
		read, _ := l.words.readAddress(text) // the literal is checked
		written = append(written, read)
	}
	return newAddressList(written, false)
}

// meaningOf returns a digest of a clause with what its names stand for: equal ones have equal values.
func (c *clause) meaningOf() string {
	text := []byte(c.source)
	isOther := func(r rune) bool { return r != '_' && !unicode.In(r, unicode.L, unicode.Nd) }
	for _, name := range strings.FieldsFunc(c.source, isOther) {
		if list := c.in.lists[name]; list != nil {
			for _, address := range list.addresses {
				text = fmt.Appendf(text, "\n%s %q %v", name, address.key(), list.value.anyChain)
			}
		}
		if asset := c.in.assets[name]; asset != nil {
			text = fmt.Appendf(text, "\n%s %q %d %q", name, identity(asset.Asset), asset.decimals, asset.Standard)
		}
	}
	digest := sha256.Sum256(text)
	return string(digest[:])
}
