package policy

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/chains"
)

// checkRule refuses a rule that cannot be meant, and warns of one that is
// likely wider than it looks.
func (c *compiler) checkRule(r *rule, n node) {
	for _, other := range c.file.rules {
		if other.name == r.name {
			n.fail("another rule has this name")
			break
		}
	}
	switch {
	case !ruleName.MatchString(r.name):
		n.fail("a rule needs a name of lower-case letters, digits and -, not %q", shorten(r.name))
	case r.deny && (len(r.limits) > 0 || len(r.hazards) > 0 || len(r.approvals) > 0):
		n.fail("a deny has no limit, hazards or approvals")
	}
	c.checkDetails(r, n)
	c.checkScope(r, n)
	c.checkLimitSubjects(r, n)
	if !r.deny {
		c.lintAllow(r, n)
	}
}

// checkDetails demands an on of a rule that looks at the details of a chain: a
// deny would else be an error on every other chain, or silently not asked.
func (c *compiler) checkDetails(r *rule, n node) {
	if r.when == nil {
		return
	}
	var looked []string
	for _, root := range sortedKeys(detailRoots) {
		if r.when.looksAt[root] {
			looked = append(looked, root)
		}
	}
	switch {
	case len(looked) == 0:
	case len(looked) > 1:
		n.fail("a rule looks at the details of one chain, this at those of %s: make it several", strings.Join(looked, " and "))
	case len(r.on) != 1 || r.on[0] != detailRoots[looked[0]]:
		n.fail("a rule that looks at %s needs 'on: %s', so that it is plain that it says nothing of other chains", looked[0], detailRoots[looked[0]])
	}
}

// checkScope refuses what cannot hold in the rule's scope.
func (c *compiler) checkScope(r *rule, n node) {
	if r.when == nil {
		return
	}
	if r.request && r.when.looksAt["effect"] {
		n.fail("a rule on request has no effect: go over effects, or name a kind instead of request")
	}
	native := r.when.parsed.NativeRep()
	if constant, value := isConstant(native.Expr()); constant {
		c.constant(r, n, value)
	}
	for _, kind := range comparedKinds(native.Expr()) {
		if !r.request && !slices.Contains(r.kinds, kind) {
			n.fail("effect.kind is never '%s' in a rule on %s", kind, kindsText(r.kinds))
		}
	}
}

func (c *compiler) constant(r *rule, n node, value bool) {
	switch {
	case !value:
		n.fail("when is never true: this rule can never match")
	case r.deny:
		c.problems.warn(n.at(), r.name, "when is always true: this denies every %s", kindsText(r.kinds))
	default:
		c.problems.warn(n.at(), r.name, "when is always true: leave it out if that is meant")
	}
}

func isConstant(e ast.Expr) (constant, value bool) {
	if e.Kind() != ast.LiteralKind {
		return false, false
	}
	held, ok := e.AsLiteral().(types.Bool)
	return ok, bool(held)
}

// comparedKinds are the kinds that effect.kind must be for a condition of
// clauses joined by && to hold.
func comparedKinds(e ast.Expr) []chains.Kind {
	if e.Kind() != ast.CallKind {
		return nil
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case "_&&_":
		return append(comparedKinds(call.Args()[0]), comparedKinds(call.Args()[1])...)
	case "_==_":
		for i, arg := range call.Args() {
			text, ok := textOf(call.Args()[1-i])
			if ok && arg.Kind() == ast.SelectKind && arg.AsSelect().FieldName() == "kind" && identOf(arg.AsSelect().Operand()) == "effect" {
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

// checkLimitSubjects refuses limits that the rule's effects cannot be counted by.
func (c *compiler) checkLimitSubjects(r *rule, n node) {
	for _, limit := range r.limits {
		if limit.per == "to" && !c.listsRecipients(r) {
			n.fail("limit %s is counted per recipient, of which there are as many as a thief likes: let when demand 'effect.to in' a list", limit.name)
		}
		for _, on := range r.on {
			if limit.asset != nil && chainNamespaces[on] != namespaceOf(limit.asset.Chain) {
				n.fail("limit %s counts %s, of which there is none on %s", limit.name, limit.asset, on)
			}
		}
	}
	if len(r.limits) > 0 && !r.request && !slices.ContainsFunc(r.kinds, func(kind chains.Kind) bool { return countedKinds[kind] }) {
		n.fail("a limit counts transfer, approve, fee, create, burn and stake: this rule has none of them and would cover nothing")
	}
}

// listsRecipients reports whether effect.to must be in a list for the rule to hold.
func (c *compiler) listsRecipients(r *rule) bool {
	return r.when != nil && demandsList(r.when.parsed.NativeRep().Expr())
}

func demandsList(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case "_&&_":
		return demandsList(call.Args()[0]) || demandsList(call.Args()[1])
	case "@in", "_==_":
		to := call.Args()[0]
		return to.Kind() == ast.SelectKind && to.AsSelect().FieldName() == "to" && identOf(to.AsSelect().Operand()) == "effect"
	}
	return false
}

// lintAllow warns of allows that are wider than they look.
func (c *compiler) lintAllow(r *rule, n node) {
	warn := func(message string) { c.problems.warn(n.at(), r.name, "%s", message) }
	if r.request {
		warn("this allows whole activities, with every effect that they have: name the kinds of effects instead, if you can")
	}
	if slices.Contains(r.kinds, chains.KindFee) && len(r.limits) == 0 && !r.mentions("amount") {
		warn("this allows any fee: bound it, such as effect.amount <= ether('0.02'), or give it a limit")
	}
	if slices.Contains(r.kinds, chains.KindCall) && len(r.hazards) > 0 && r.when == nil {
		warn("this allows calls that are not understood to any contract: name the contracts in when")
	}
	if r.existsOverEffects() {
		warn("exists over effects holds if one of them is as it says, whatever the others are: an allow covers one effect at a time, so ask for effect instead")
	}
}

// mentions reports whether the condition selects a member of effect.
func (r *rule) mentions(name string) bool {
	found := false
	if r.when != nil {
		ast.PreOrderVisit(r.when.parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
			found = found || e.Kind() == ast.SelectKind && e.AsSelect().FieldName() == name
		}))
	}
	return found
}

// existsOverEffects reports whether the condition has that macro.
func (r *rule) existsOverEffects() bool {
	if r.when == nil {
		return false
	}
	native := r.when.parsed.NativeRep()
	for _, call := range native.SourceInfo().MacroCalls() {
		if call.Kind() == ast.CallKind && call.AsCall().FunctionName() == "exists" && strings.HasPrefix(identOf(call.AsCall().Target()), "effects") {
			return true
		}
	}
	return false
}

// finish checks what needs the whole file, and prepares it for use.
func (c *compiler) finish() {
	for _, r := range c.file.rules {
		if r.when != nil {
			c.file.total += r.when.cost
			c.noteUse(r)
		}
	}
	if worst := c.file.total * chains.MaxEffects; worst > MaxFileCost {
		c.problems.add(place{1, 1}, "", "the conditions of this file cost up to %d steps for one request, at most %d are allowed", worst, MaxFileCost)
	}
	c.unused()
	if !slices.ContainsFunc(c.file.rules, func(r *rule) bool { return !r.deny }) && len(c.file.rules) > 0 {
		c.problems.warn(place{1, 1}, "", "no rule allows anything")
	}
	c.file.groups = newGroups(c.file.rules)
}

// noteUse notes the lists and assets that a condition names.
func (c *compiler) noteUse(r *rule) {
	for name := range r.when.looksAt {
		if list, ok := c.lists[name]; ok {
			list.used = true
		}
		if _, ok := c.assets[name]; ok {
			c.usedAssets[name] = true
		}
	}
}

// unused refuses names that nothing uses: a list that no rule names is a rule
// that is not there.
func (c *compiler) unused() {
	if c.problems.failed() {
		return
	}
	for _, name := range sortedKeys(c.lists) {
		if !c.lists[name].used {
			c.problems.add(c.lists[name].at, "", "no rule uses the list %s", name)
		}
	}
	for _, name := range sortedKeys(c.assets) {
		if !c.usedAssets[name] {
			c.problems.add(c.assetAt[name], "", "nothing uses the asset %s", name)
		}
	}
	for _, name := range sortedKeys(c.file.limits) {
		if limit := c.file.limits[name]; !limit.used {
			c.problems.add(limit.at, "", "no rule uses the limit %s", name)
		}
	}
}

// plainer puts a message of the checker into words of this language.
func (c *compiler) plainer(message string) string {
	if name, ok := between(message, "undeclared reference to '", "'"); ok {
		known := append(sortedKeys(variables()), append(sortedKeys(c.lists), sortedKeys(c.assets)...)...)
		for function := range literalFunctions {
			known = append(known, function)
		}
		return meant(fmt.Sprintf("there is no %s here", shorten(name)), name, known)
	}
	if name, ok := between(message, "undefined field '", "'"); ok {
		var known []string
		var elsewhere []string
		for kind, fields := range objectFields() {
			if _, ok := fields[name]; ok {
				elsewhere = append(elsewhere, kind.TypeName())
			}
			known = append(known, sortedKeys(fields)...)
		}
		if len(elsewhere) > 0 {
			return fmt.Sprintf("there is no member %s here: %s has one", shorten(name), slices.Min(elsewhere))
		}
		slices.Sort(known)
		return meant(fmt.Sprintf("there is no member %s here", shorten(name)), name, known)
	}
	if strings.Contains(message, "applied to '(amount, int)'") || strings.Contains(message, "applied to '(int, amount)'") {
		return "an amount is compared with a bare number, whose unit nothing says: write ether('0.5'), units('500') or amount(usdc, '1.50')"
	}
	if strings.Contains(message, "applied to '(address, string)'") || strings.Contains(message, "applied to '(string, address)'") {
		return "an address is compared with text: write address('0x…')"
	}
	return message
}

func between(text, before, after string) (string, bool) {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return "", false
	}
	found, _, ok := strings.Cut(rest, after)
	return found, ok
}
