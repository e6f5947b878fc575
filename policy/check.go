package policy

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// checkRuleName refuses a rule without a name of its own.
func (c *compiler) checkRuleName(r *rule, n source.Node) {
	for _, other := range c.file.rules {
		if other.name == r.name {
			n.Fail("another rule has this name")
			break
		}
	}
	if !ruleName.MatchString(r.name) {
		n.Fail("a rule needs a name of lower-case letters, digits and -, not %q", shorten(r.name))
	}
}

// checkRule refuses a rule that makes no sense, and warns of one that likely allows
// more than intended.
func (c *compiler) checkRule(r *rule, n source.Node) {
	if r.deny && (len(r.limits) > 0 || len(r.hazards) > 0 || len(r.approvals) > 0) {
		n.Fail("a deny has no limit, hazards or approvals")
	}
	r.checkHazards(n)
	c.checkDetails(r, n)
	c.checkScope(r, n)
	c.checkLimitSubjects(r, n)
	c.checkAmounts(r, n)
	if !r.deny {
		c.lintAllow(r, n)
	}
}

// checkDetails requires an on in a rule that uses the details of a chain. Without one, a
// deny would be an error on every other chain, or silently skipped.
func (c *compiler) checkDetails(r *rule, n source.Node) {
	if r.when == nil {
		return
	}
	var used []string
	for _, root := range sortedKeys(words().roots) {
		if r.when.names[root] {
			used = append(used, root)
		}
	}
	switch {
	case len(used) == 0:
	case len(used) > 1:
		n.Fail("a rule can use the details of one chain, this one uses %s: split it", strings.Join(used, " and "))
	case len(r.on) != 1 || r.on[0] != words().roots[used[0]]:
		n.Fail("a rule that uses %s needs 'on: %s', to make clear that it does not apply to other chains", used[0], words().roots[used[0]])
	}
}

// checkScope refuses a condition that contradicts the rule's scope.
func (c *compiler) checkScope(r *rule, n source.Node) {
	if r.when == nil {
		return
	}
	if r.request && r.when.names["effect"] {
		n.Fail("a rule on request has no effect: use effects, or name a kind instead of request")
	}
	for _, kind := range comparedKinds(r.when.expr()) {
		if !r.request && !slices.Contains(r.kinds, kind) {
			n.Fail("effect.kind is never '%s' in a rule on %s", kind, kindsText(r.kinds))
			return
		}
	}
	if value, ok := r.constant(); ok {
		c.checkConstant(r, n, value)
	}
}

func (c *compiler) checkConstant(r *rule, n source.Node, value bool) {
	switch {
	case !value && r.when.expr().Kind() == ast.LiteralKind:
		n.Fail("when is never true: this rule can never match")
	case !value:
		c.problems.Warn(n.Place(), r.name, "when is never true: this rule can never match")
	case r.deny:
		c.problems.Warn(n.Place(), r.name, "when is always true: this denies every %s", kindsText(r.kinds))
	default:
		c.problems.Warn(n.Place(), r.name, "when is always true: omit it if that is intended")
	}
}

// comparedKinds returns the kinds that effect.kind is required to equal by clauses
// joined with &&.
func comparedKinds(e ast.Expr) []chains.Kind {
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case "_&&_":
		return append(comparedKinds(args[0]), comparedKinds(args[1])...)
	case "_==_":
		for i, arg := range args {
			if text, ok := syntax.Text(args[1-i]); ok && syntax.Path(arg) == "effect.kind" {
				return []chains.Kind{chains.Kind(text)}
			}
		}
	}
	return nil
}

func kindsText(kinds []chains.Kind) string {
	if len(kinds) == 0 {
		return "request"
	}
	var names []string
	for _, kind := range kinds {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// checkLimitSubjects refuses limits that cannot count the rule's effects.
func (c *compiler) checkLimitSubjects(r *rule, n source.Node) {
	for _, limit := range r.limits {
		if limit.per == "to" && (r.when == nil || !restrictsRecipient(r.when.expr())) {
			n.Fail("limit %s is counted per recipient, and a thief can use any number of recipients: require 'effect.to in' a list in when", limit.name)
		}
		for _, on := range r.on {
			if limit.asset != nil && words().chains[on].Namespace != namespaceOf(limit.asset.Chain) {
				n.Fail("limit %s counts %s, which does not exist on %s", limit.name, limit.asset, on)
			}
		}
	}
	if len(r.limits) > 0 && !r.request && !slices.ContainsFunc(r.kinds, chains.Kind.Spends) {
		n.Fail("a limit counts %s: this rule has none of them and would cover nothing", kindsText(slices.DeleteFunc(chains.Kinds(), func(kind chains.Kind) bool { return !kind.Spends() })))
	}
}

// restrictsRecipient reports whether the condition requires effect.to to be in a list or
// to equal an address.
func restrictsRecipient(e ast.Expr) bool {
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case "_&&_":
		return restrictsRecipient(args[0]) || restrictsRecipient(args[1])
	case "@in", "_==_":
		return syntax.Path(args[0]) == "effect.to"
	}
	return false
}

// lintAllow warns of allows that allow more than it seems.
func (c *compiler) lintAllow(r *rule, n source.Node) {
	warn := func(message string) { c.problems.Warn(n.Place(), r.name, "%s", message) }
	if r.request {
		warn("this allows whole activities, with all their effects: name the kinds of effects instead if you can")
	}
	if slices.Contains(r.kinds, chains.KindFee) && len(r.limits) == 0 && !r.when.selects("amount") {
		warn("this allows any fee: bound it, such as effect.amount <= ether('0.02'), or give it a limit")
	}
	if slices.Contains(r.kinds, chains.KindCall) && len(r.hazards) > 0 && r.when == nil {
		warn("this allows calls that are not understood to any contract: name the contracts in when")
	}
	ofDomain := func(text string) bool { return strings.HasPrefix(text, "domain.") } // an argument of typed data
	if slices.Contains(r.kinds, chains.KindMessage) && !r.when.selects("domain") && !r.when.mentions(ofDomain) {
		warn("this allows sign-ins and texts of any site: bound whom they are for, such as effect.domain == 'app.example.com'")
	}
	if r.when.existsOverEffects() {
		warn("exists over effects holds if a single effect matches, whatever the others are: an allow covers one effect at a time, so use effect instead")
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

// isReceive reports whether a text is the kind of effect that no rule covers. The conditions of
// allows that do not mention it do not see what is received.
func isReceive(text string) bool { return text == string(chains.KindReceive) }

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

// finish checks what needs the whole file, and groups the rules.
func (c *compiler) finish() {
	for _, r := range c.file.rules {
		if r.when != nil {
			c.file.cost += r.when.cost
			c.markUsed(r)
		}
	}
	if worst := c.file.cost * chains.MaxEffects; worst > maxFileCost {
		c.problems.Add(source.FileStart, "", "the conditions of this file cost up to %d steps for one request, at most %d are allowed", worst, maxFileCost)
	}
	c.checkUnused()
	c.checkLists()
	if !slices.ContainsFunc(c.file.rules, func(r *rule) bool { return !r.deny }) && len(c.file.rules) > 0 {
		c.problems.Warn(source.FileStart, "", "no rule allows anything")
	}
	c.file.groups = newGroups(c.file.rules)
}

// markUsed marks the lists and assets that a condition names.
func (c *compiler) markUsed(r *rule) {
	for name := range r.when.names {
		if list, ok := c.lists[name]; ok {
			list.used = true
		}
		if asset, ok := c.assets[name]; ok {
			asset.used = true
		}
	}
}

// checkUnused refuses lists, assets and limits that nothing uses: an unused list likely
// means a forgotten rule.
func (c *compiler) checkUnused() {
	if c.problems.Failed() {
		return
	}
	for _, name := range sortedKeys(c.lists) {
		if list := c.lists[name]; !list.used {
			c.problems.Add(list.place, "", "no rule uses the list %s", name)
		}
	}
	for _, name := range sortedKeys(c.assets) {
		if asset := c.assets[name]; !asset.used {
			c.problems.Add(asset.place, "", "nothing uses the asset %s", name)
		}
	}
	for _, name := range sortedKeys(c.file.limits) {
		if limit := c.file.limits[name]; !limit.used {
			c.problems.Add(limit.place, "", "no rule uses the limit %s", name)
		}
	}
}

// rephrase rewrites messages of CEL's type checker in the terms of this language.
func (c *compiler) rephrase(message string) string {
	if name, ok := between(message, "undeclared reference to '", "'"); ok {
		if function, ok := words().literals[name]; ok {
			return name + " is a function: write " + function.example
		}
		known := slices.Concat(sortedKeys(variables()), sortedKeys(c.lists), sortedKeys(c.assets), sortedKeys(words().literals))
		if slices.Contains(known, name) {
			return name + " is not a function"
		}
		return source.Meant(fmt.Sprintf("there is no %s here", shorten(name)), name, known)
	}
	if name, ok := between(message, "undefined field '", "'"); ok {
		return noField(name)
	}
	if strings.Contains(message, "applied to '(amount, int)'") || strings.Contains(message, "applied to '(int, amount)'") {
		return "an amount is compared with a bare number, which has no unit: write ether('0.5'), units('500') or amount(usdc, '1.50')"
	}
	if strings.Contains(message, "applied to '(address, string)'") || strings.Contains(message, "applied to '(string, address)'") {
		return "an address is compared with text: write address('0x…')"
	}
	return message
}

// noField says that there is no such member, and which object has one, if any.
func noField(name string) string {
	var names, owners []string
	for kind, fields := range objectFields() {
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

// between returns the text between two marks.
func between(text, before, after string) (string, bool) {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, after)
	return inner, ok
}
