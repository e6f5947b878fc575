package policy

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"

	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// comparisons are the amounts that a condition compares.
type comparisons struct {
	*language
	rule  *rule
	warn  func(message string, args ...any)
	units map[string]map[string]bool // namespaces that an amount of the request is compared with, by its path
}

// checkAmounts warns of comparisons that are an error for every request, or for all requests
// of some chain: an amount has one unit.
func (d *draft) checkAmounts(r *rule, n source.Node) {
	if r.when == nil {
		return
	}
	warn := func(message string, args ...any) { d.problems.Warn(n.Place(), r.name, message, args...) }
	k := &comparisons{d.language, r, warn, map[string]map[string]bool{}}
	k.walk(r.when.checked.Expr())
	for _, path := range sortedKeys(k.units) {
		if namespaces := sortedKeys(k.units[path]); len(namespaces) > 1 {
			k.warn("this compares amounts of several chains (%s): on each of them the comparison with the others is "+
				"an error; write a rule for each chain, with on", strings.Join(namespaces, ", "))
		}
	}
	k.checkCoin()
}

// walk visits the comparisons that are evaluated for one and the same request: what follows
// a test of the asset or the chain is evaluated for some requests only.
func (k *comparisons) walk(e ast.Expr) {
	if e.Kind() == ast.ComprehensionKind {
		k.walk(e.AsComprehension().LoopStep())
		return
	}
	args := e.AsCall().Args()
	switch name := e.AsCall().FunctionName(); name {
	case "_&&_":
		k.walk(args[0])
		k.branch(args[1], testsAsset(args[0]))
	case "_?_:_":
		k.walk(args[0])
		k.branch(args[1], testsAsset(args[0]))
		k.branch(args[2], testsAsset(args[0]))
	case "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_":
		k.compared(args[0], args[1])
	default:
		for _, arg := range args {
			k.walk(arg)
		}
	}
}

// branch visits what is evaluated after a test. After one of the asset, its comparisons stand
// for themselves.
func (k *comparisons) branch(e ast.Expr, tested bool) {
	if !tested {
		k.walk(e)
		return
	}
	alone := *k
	alone.units = map[string]map[string]bool{}
	alone.walk(e)
}

// testsAsset reports whether a condition depends on the chain or the asset of an effect.
func testsAsset(e ast.Expr) bool {
	return has(e, func(e ast.Expr) bool {
		path := syntax.Path(e)
		member := path[strings.LastIndexByte(path, '.')+1:]
		return path == "request.chain" || path != member && (member == "asset" || member == "chain_id")
	})
}

// compared records two sides of a comparison, and warns if they have different units.
func (k *comparisons) compared(a, b ast.Expr) {
	left, isLeft := k.unitOf(a)
	right, isRight := k.unitOf(b)
	switch {
	case isLeft && isRight && !left.matches(right):
		k.warn("an amount of %s is compared with one of %s: that is always an error", left, right)
	case isLeft && !isRight:
		k.record(b, left)
	case isRight && !isLeft:
		k.record(a, right)
	}
}

// record remembers that an amount of the request is compared with one of a unit, and warns if
// the rule is not about that chain.
func (k *comparisons) record(e ast.Expr, with unit) {
	path, namespace := syntax.Path(e), with.namespace()
	if path == "" || namespace == "" {
		return
	}
	if k.units[path] == nil {
		k.units[path] = map[string]bool{}
	}
	k.units[path][namespace] = true
	if len(k.rule.on) > 0 && !k.words.hasNamespace(k.rule.on, namespace) {
		k.warn("%s is compared with an amount of %s, and this rule is on %s: that is always an error",
			path, with, strings.Join(k.rule.on, ", "))
	}
}

// namespace returns the namespace of the unit's asset, empty for any.
func (u unit) namespace() string {
	if u.native != "" {
		return u.native
	}
	return namespaceOf(u.asset.Chain)
}

// unitOf returns the unit of an amount, if the request does not decide it.
func (k *comparisons) unitOf(e ast.Expr) (u unit, known bool) {
	call := e.AsCall()
	if root, member, ok := strings.Cut(syntax.Path(e), "."); ok && k.rule.when.checked.GetType(e.ID()) == amountType {
		if member == "value" {
			return unit{value: true}, true
		}
		if root, isDetail := k.language.words.roots[root]; isDetail {
			return unit{native: root.words.Namespace}, true
		}
	}
	switch name := call.FunctionName(); name {
	case "amount", "total":
		asset, ok := k.assets[call.Args()[0].AsIdent()]
		if !ok {
			return u, false
		}
		return unit{asset: asset.Asset}, true
	case "value":
		return unit{value: true}, true
	case "_+_":
		return k.unitOf(call.Args()[0])
	default:
		of, isUnit := k.words.units[name]
		return unit{native: of.namespace, symbol: of.Symbol, any: name == anyUnits}, isUnit
	}
}

// checkCoin warns of a unit that counts one coin in a rule that names no chain.
func (k *comparisons) checkCoin() {
	condition := k.rule.when.checked.Expr()
	if testsAsset(condition) || slices.ContainsFunc(k.rule.limits, isOfAsset) {
		return
	}
	for _, name := range sortedKeys(k.words.units) {
		calls := func(e ast.Expr) bool { return syntax.IsCall(e, name) }
		if unit := k.words.units[name]; unit.Symbol != "" && has(condition, calls) {
			k.warn("%s counts %s, on every chain whose coin that is, and is an error on others, which allows "+
				"nothing there: name the chain, such as effect.asset.chain == 'eip155:1'", name, unit.Symbol)
		}
	}
}
