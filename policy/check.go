package policy

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"cel.dev/cel-go/common/ast"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// checks are those of what the members of a file mean together.
type checks struct{ *draft }

// rule refuses a rule that makes no sense, and warns of one that likely allows more than intended.
func (c checks) rule(r *rule, n source.Node) {
	if r.deny && (len(r.limits) > 0 || len(r.hazards) > 0 || len(r.approvals) > 0) {
		n.Fail("a deny has no limit, hazards or approvals")
	}
	r.checkHazards(c.words, n)
	c.checkDetails(r, n)
	c.checkScope(r, n)
	c.checkLimitSubjects(r, n)
	c.checkAmounts(r, n)
	if !r.deny {
		c.lintAllow(r, n)
	} else if slices.ContainsFunc(r.when.parts(), func(part *clause) bool { return !part.told }) {
		c.problems.Warn(n.Place(), r.name, "an address in when is only itself, and other forms of it evade the deny: "+
			"write 'effect.to in LIST', without filter and ? :")
	}
}

// checkDetails requires an on in a rule that uses the details of a chain. Without one, a
// deny would be an error on every other chain, or silently skipped.
func (c checks) checkDetails(r *rule, n source.Node) {
	if r.when == nil {
		return
	}
	var used []string
	for _, root := range sortedKeys(c.words.roots) {
		if r.when.names[root] {
			used = append(used, root)
		}
	}
	switch {
	case len(used) == 0:
	case len(used) > 1:
		n.Fail("a rule can use the details of one chain, this one uses %s: split it", strings.Join(used, " and "))
	case len(r.on) != 1 || r.on[0] != c.words.roots[used[0]].chain:
		n.Fail("a rule that uses %s needs 'on: %s', to make clear that it does not apply to other chains",
			used[0], c.words.roots[used[0]].chain)
	}
}

// checkScope refuses a condition that contradicts the rule's scope.
func (c checks) checkScope(r *rule, n source.Node) {
	if r.when == nil {
		return
	}
	if r.request && r.when.names["effect"] {
		n.Fail("a rule on request has no effect: use effects, or name a kind instead of request")
	}
	for _, kind := range comparedKinds(r.when.checked.Expr()) {
		if !r.request && !slices.Contains(r.kinds, kind) {
			n.Fail("effect.kind is never '%s' in a rule on %s", kind, kindsText(r.kinds))
			return
		}
	}
	supposed := newSupposition(c.language, r.when.checked.SourceInfo())
	if !r.request {
		supposed.kinds = r.kinds
	}
	if value, ok := supposed.constant(r.when.checked.Expr()); ok {
		switch {
		case !value && r.when.checked.Expr().Kind() == ast.LiteralKind:
			n.Fail("when is never true: this rule can never match")
		case !value:
			c.problems.Warn(n.Place(), r.name, "when is never true: this rule can never match")
		case r.deny:
			c.problems.Warn(n.Place(), r.name, "when is always true: this denies every %s", kindsText(r.kinds))
		default:
			c.problems.Warn(n.Place(), r.name, "when is always true: omit it if that is intended")
		}
	}
}

// checkLimitSubjects refuses limits that cannot count the rule's effects.
func (c checks) checkLimitSubjects(r *rule, n source.Node) {
	for _, limit := range r.limits {
		if limit.per == "to" && (r.when == nil || !c.restrictsRecipient(r.when.checked.Expr())) {
			n.Fail("limit %s is counted per recipient, and a thief can use any number of recipients: "+
				"require 'effect.to in' a list in when", limit.name)
		}
		for _, on := range r.on {
			if limit.asset != nil && !limit.currency && c.words.chain(on).Namespace != namespaceOf(limit.asset.Chain) {
				n.Fail("limit %s counts %s, which does not exist on %s", limit.name, limit.asset, on)
			}
		}
	}
	if len(r.limits) > 0 && !r.request && !slices.ContainsFunc(r.kinds, chains.Kind.Spends) {
		unspent := func(kind chains.Kind) bool { return !kind.Spends() }
		n.Fail("a limit counts %s: this rule has none of them and would cover nothing",
			kindsText(slices.DeleteFunc(chains.Kinds(), unspent)))
	}
}

// lintAllow warns of allows that allow more than it seems.
func (c checks) lintAllow(r *rule, n source.Node) {
	warn := func(message string) { c.problems.Warn(n.Place(), r.name, "%s", message) }
	if r.request {
		warn("this allows whole activities, with all their effects: name the kinds of effects instead if you can")
	}
	isBound := func(e ast.Expr) bool { return e.AsSelect().FieldName() == "amount" || syntax.IsCall(e, "value") }
	bounded := len(r.limits) > 0 || r.when != nil && has(r.when.checked.Expr(), isBound)
	if slices.Contains(r.kinds, chains.KindFee) && !bounded {
		warn("this allows any fee: bound it, such as effect.amount <= ether('0.02'), or give it a limit")
	}
	if slices.Contains(r.kinds, chains.KindCall) && len(r.hazards) > 0 && r.when == nil {
		warn("this allows calls that are not understood to any contract: name the contracts in when")
	}
	ofDomain := func(text string) bool { return strings.HasPrefix(text, "domain.") } // an argument of typed data
	if slices.Contains(r.kinds, chains.KindMessage) && !r.when.selects("domain") && !r.when.mentions(ofDomain) {
		warn("this allows sign-ins and texts of any site: bound whom they are for, " +
			"such as effect.domain == 'app.example.com'")
	}
	if r.when.existsOverEffects() {
		warn("exists over effects holds if a single effect matches, whatever the others are: " +
			"an allow covers one effect at a time, so use effect instead")
	}
}

// whole checks what needs the whole file. It returns what it costs to judge the most effects that
// a request has, and how many can be judged in at most maxSteps.
func (c checks) whole() (cost uint64, effects int) {
	for _, r := range c.rules {
		if r.when != nil {
			for name := range r.when.names {
				if list, ok := c.lists[name]; ok {
					list.used = true
				}
				if asset, ok := c.assets[name]; ok {
					asset.used = true
				}
			}
		}
	}
	effects = sort.Search(chains.MaxEffects, func(n int) bool { return c.steps(n+1) > maxSteps })
	if effects < minEffects {
		c.problems.Add(source.FileStart, "",
			"the conditions of this file cost up to %d steps for a request of %d effects, at most %d are allowed",
			c.steps(minEffects), minEffects, maxSteps)
	}
	c.checkUnused()
	c.checkLists()
	if !slices.ContainsFunc(c.rules, func(r *rule) bool { return !r.deny }) && len(c.rules) > 0 {
		c.problems.Warn(source.FileStart, "", "no rule allows anything")
	}
	return c.steps(chains.MaxEffects), effects
}

// steps returns an upper bound of what a request of a number of effects costs, if they are all of
// one account.
func (c checks) steps(effects int) (sum uint64) {
	for _, r := range c.rules {
		if r.when != nil {
			sum += r.when.steps(effects)
		}
	}
	return sum
}

// checkUnused refuses lists, assets and limits that nothing uses: an unused list likely
// means a forgotten rule.
func (c checks) checkUnused() {
	if c.problems.Failed() {
		return
	}
	check := func(place source.Place, used bool, what, name string) {
		if !used {
			c.problems.Add(place, "", "%s %s", what, name)
		}
	}
	for _, name := range sortedKeys(c.lists) {
		check(c.lists[name].place, c.lists[name].used, "no rule uses the list", name)
	}
	for _, name := range sortedKeys(c.assets) {
		check(c.assets[name].place, c.assets[name].used, "nothing uses the asset", name)
	}
	for _, name := range sortedKeys(c.limits) {
		check(c.limits[name].place, c.limits[name].used, "no rule uses the limit", name)
	}
	if p := c.prices; p != nil {
		check(p.place, p.used, "no limit or condition uses the prices in", p.currency)
	}
}

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
			known = known && len(namespaces) > 0
			maps.Copy(allowed, namespaces)
		}
		c.warnLists(r)
	}
	for _, name := range sortedKeys(c.lists) {
		list := c.lists[name]
		if !known || len(allowed) == 0 || list.shared || meet(list.namespaces(c.words), allowed) {
			continue
		}
		c.problems.Add(list.place, "", "no address of the list %s is of a chain that a rule allows (%s), so that it "+
			"matches nothing: add addresses of that chain, or say any_chain: true or shared: true, "+
			"as in %s: {shared: true, addresses: […]}", name, strings.Join(sortedKeys(allowed), ", "), name)
	}
}

// warnLists warns of lists in a rule whose addresses are all of other chains.
func (c checks) warnLists(r *rule) {
	namespaces := c.namespaces(r, false)
	if r.when == nil || len(namespaces) == 0 {
		return
	}
	for _, name := range sortedKeys(r.when.names) {
		if list := c.lists[name]; list != nil && !list.shared && !meet(list.namespaces(c.words), namespaces) {
			c.problems.Warn(r.place, r.name, "no address of the list %s is of a chain that this rule is about (%s): "+
				"it matches nothing here", name, strings.Join(sortedKeys(namespaces), ", "))
		}
	}
}

// namespaces returns the namespaces that what a rule is about can be of, none if that is not known.
func (c checks) namespaces(r *rule, lists bool) map[string]bool {
	found := map[string]bool{}
	for _, on := range r.on {
		found[c.words.chain(on).Namespace] = true
	}
	for _, limit := range r.limits {
		if len(found) == 0 && limit.asset != nil && !limit.currency {
			found[namespaceOf(limit.asset.Chain)] = true
		}
	}
	if len(found) == 0 && r.when != nil {
		found = c.tested(&comparisons{language: c.language, rule: r}, r.when.checked.Expr(), lists)
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
