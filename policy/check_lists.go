package policy

import (
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// checkLists refuses a list of which no address is of a chain that an allow covers, and warns
// of one in a rule that its effects cannot be in.
func (c checks) checkLists() {
	if c.problems.Failed() {
		return
	}
	allowed, known := map[string]bool{}, true
	for _, r := range c.rules {
		if !r.deny && !slices.Equal(r.kinds, []chains.Kind{chains.KindOTP}) {
			namespaces := c.namespaces(r, true)
			known = known && namespaces != nil
			maps.Copy(allowed, namespaces)
		}
		c.warnLists(r)
	}
	for _, name := range sortedKeys(c.lists) {
		if list := c.lists[name]; known && len(allowed) > 0 && !list.shared && !meet(list.namespaces(c.words), allowed) {
			c.problems.Add(list.place, "", "no address of the list %s is of a chain that a rule allows (%s), so that it matches nothing: "+
				"add addresses of that chain, or say any_chain: true or shared: true, as in %s: {shared: true, addresses: […]}",
				name, strings.Join(sortedKeys(allowed), ", "), name)
		}
	}
}

// warnLists warns of lists in a rule whose addresses are all of other chains.
func (c checks) warnLists(r *rule) {
	namespaces := c.namespaces(r, false)
	if r.when == nil || namespaces == nil {
		return
	}
	for _, name := range sortedKeys(r.when.names) {
		if list := c.lists[name]; list != nil && !list.shared && !meet(list.namespaces(c.words), namespaces) {
			c.problems.Warn(r.place, r.name, "no address of the list %s is of a chain that this rule is about (%s): it matches nothing here",
				name, strings.Join(sortedKeys(namespaces), ", "))
		}
	}
}

// namespaces returns the namespaces that what a rule is about can be of, nil if that is not known.
func (c checks) namespaces(r *rule, lists bool) map[string]bool {
	found := map[string]bool{}
	for _, on := range r.on {
		found[c.words.chain(on).Namespace] = true
	}
	for _, limit := range r.limits {
		if len(found) == 0 && limit.asset != nil {
			found[namespaceOf(limit.asset.Chain)] = true
		}
	}
	if len(found) == 0 && r.when != nil {
		found = c.tested(&comparisons{language: c.language, rule: r}, r.when.expr(), lists)
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// tested returns the namespaces of the effects that a condition holds for, as far as clauses
// that && joins say so, those that ask for an address of a list too if lists is set.
func (c checks) tested(k *comparisons, e ast.Expr, lists bool) map[string]bool {
	args := e.AsCall().Args()
	switch name := e.AsCall().FunctionName(); name {
	case "_&&_":
		if left := c.tested(k, args[0], lists); len(left) > 0 {
			return left
		}
		return c.tested(k, args[1], lists)
	case "@in":
		if list := c.lists[args[1].AsIdent()]; list != nil && lists {
			return list.namespaces(c.words)
		}
		found := map[string]bool{}
		for _, element := range args[1].AsList().Elements() {
			if text, ok := syntax.Text(element); ok && syntax.Path(args[0]) == "effect.asset.chain" {
				found[namespaceOf(text)] = true
			}
		}
		return found
	case "_==_", "_<_", "_<=_":
		text, ok := syntax.Text(args[1])
		asset := c.assets[args[1].AsIdent()]
		switch unit, isAmount := k.unitOf(args[1]); {
		case ok && syntax.Path(args[0]) == "effect.asset.chain":
			return map[string]bool{namespaceOf(text): true}
		case asset != nil && syntax.Path(args[0]) == "effect.asset":
			return map[string]bool{namespaceOf(asset.Chain): true}
		case isAmount && unit.namespace() != "" && syntax.Path(args[0]) == "effect.amount":
			return map[string]bool{unit.namespace(): true}
		}
	}
	return nil
}

// namespaces returns the namespaces that addresses of the list are of.
func (l *list) namespaces(words *vocabulary) map[string]bool {
	found := map[string]bool{}
	for _, address := range l.addresses {
		found[address.words.Namespace] = true
		for namespace, said := range words.namespaces {
			if l.value.anyChain && said.Account != nil && address.words.Account != nil {
				found[namespace] = true
			}
		}
	}
	return found
}

func meet(a, b map[string]bool) bool {
	for name := range a {
		if b[name] {
			return true
		}
	}
	return false
}
