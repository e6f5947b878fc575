package policy

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
)

// Bounds of approvals.
const (
	defaultWithin = 24 * time.Hour // how long one counts
	maxApprovers  = 20             // of one group
)

func (d *draft) readRule(n source.Node) {
	r := &rule{index: len(d.rules), place: n.Place(), byName: !d.names.knowsKeys()}
	before := d.problems.Errors()
	n.Rule = peekName(n)
	var scope, when, approvals source.Node
	within, each := defaultWithin, false
	n.Fields("a rule", map[string]func(source.Node){
		"name":  func(n source.Node) { r.name = n.Text("name") },
		"allow": func(n source.Node) { r.readScope(&scope, n, false) },
		"deny":  func(n source.Node) { r.readScope(&scope, n, true) },
		"on": func(n source.Node) {
			for _, item := range n.Texts("on") {
				r.on = append(r.on, d.words.readChain(item))
			}
		},
		"who":       func(n source.Node) { r.who = d.names.readWho(n, 0) },
		"key":       func(n source.Node) { r.keys = d.names.readKeys(n) },
		"when":      func(n source.Node) { when = n },
		"limit":     func(n source.Node) { r.limits = d.readLimits(n) },
		"hazards":   func(n source.Node) { r.hazards = readHazards(n, append(d.hazards, blindCall)) },
		"approvals": func(n source.Node) { approvals = n },
		"within":    func(n source.Node) { within = n.Duration("within", time.Minute, 7*24*time.Hour) },
		"others":    func(n source.Node) { r.others = n.Boolean("others") },
		"of": func(n source.Node) {
			r.of = oneOf(n, "of", "of: %s is neither transactions nor messages", []string{ofTransactions, ofMessages})
		},
		"chains": func(n source.Node) { r.readNetworks(d.words, n) },
		"alone":  func(n source.Node) { r.alone = n.Boolean("alone") },
		"each":   func(n source.Node) { each = n.Integer("each", 1, 1) == 1 },
		"bundle": func(n source.Node) { r.bundle = n.Boolean("bundle") },
	})
	if scope.Node == nil {
		n.Fail("a rule needs allow or deny: a kind of effect, a list of kinds, or request")
	}
	if when.Node != nil {
		r.when = d.compile(when, "when", r.deny)
		r.priced = r.when.mentions(isReceive)
	}
	if approvals.Node != nil {
		r.approvals = d.readApprovals(approvals, r, within)
	}
	sound := d.problems.Errors() == before // or what follows from an error would be reported as another
	if slices.ContainsFunc(d.rules, func(other *rule) bool { return other.name == r.name }) {
		n.Fail("another rule has this name")
	}
	if !ruleName.MatchString(r.name) {
		n.Fail("a rule needs a name of lower-case letters, digits and -, not %q", shorten(r.name))
	}
	if sound {
		checks{d}.rule(r, n)
		r.checkPrice(n, each)
	}
	d.rules = append(d.rules, r)
}

// peekName reads the name of a rule before its other members, so that their problems
// can name the rule.
func peekName(n source.Node) string {
	for _, entry := range n.Quiet().Pairs("a rule") {
		if entry.Name == "name" && !entry.Node.IsNull() {
			return shorten(entry.Node.Text("name"))
		}
	}
	return ""
}

func (r *rule) readScope(scope *source.Node, n source.Node, deny bool) {
	if scope.Node != nil {
		n.Fail("a rule either allows or denies")
	}
	*scope, r.deny = n, deny
	for _, item := range n.Texts("allow or deny") {
		text, known := item.OneOf("allow or deny", append(kindNames(), "request")...)
		switch {
		case text == "request":
			r.request = true
		case text == "transaction":
			item.Fail("transaction is not a scope: name the kinds of effects, or write request, which judges " +
				"every activity, including messages and one-time passwords")
		case !known:
			meant := source.Meant(shorten(text)+" is not a kind of effect", text, append(kindNames(), "request"))
			item.Fail("%s: it is one of %s, or request", meant, strings.Join(kindNames(), ", "))
		case !deny && !chains.Kind(text).NeedsCover():
			item.Fail("what is received needs no allow: require it of what is given for it, "+
				"such as effects.exists(e, e.kind == '%s' && e.amount >= units('5'))", text)
		case slices.Contains(r.kinds, chains.Kind(text)):
			item.Fail("%s is listed twice", text)
		default:
			r.kinds = append(r.kinds, chains.Kind(text))
		}
	}
	if r.request && len(r.kinds) > 0 {
		n.Fail("request is the whole activity: it cannot be in a list with kinds")
	}
}

func (v *vocabulary) readChain(n source.Node) string {
	names := v.names()
	text, known := n.OneOf("on", names...)
	if !known {
		n.Fail("%s", source.Meant("on: "+shorten(text)+" is not a chain", text, names)+": "+strings.Join(names, ", "))
	}
	return text
}

func (d *draft) readLimits(n source.Node) []*limit {
	var limits []*limit
	for _, item := range n.Texts("limit") {
		name := item.Text("limit")
		l, err := d.limit(name)
		switch {
		case err != nil:
			item.Fail("%v", err)
		case slices.Contains(limits, l):
			item.Fail("limit %s is listed twice", name)
		default:
			l.used = true
			limits = append(limits, l)
		}
	}
	return limits
}

// readHazards reads one or several names of hazards, which must be known.
func readHazards(n source.Node, known []string) []string {
	var names []string
	for _, item := range n.Texts("hazards") {
		names = append(names, oneOf(item, "hazards", "there is no hazard %s", known))
	}
	return names
}

func (d *draft) readApprovals(n source.Node, r *rule, within time.Duration) []access.Group {
	var groups []access.Group
	for _, item := range n.Items("approvals") {
		group := access.Group{Rule: r.name, Within: within, NotSubmitter: true}
		var not bool
		item.Fields("an approval", map[string]func(source.Node){
			"count": func(n source.Node) { group.Count = n.Integer("count", 1, maxApprovers) },
			"tag":   func(n source.Node) { group.Tag = d.names.tag(n) },
			"users": func(n source.Node) { group.Users = d.names.users(n) },
			"not":   func(n source.Node) { not = isOnly(n, "not", "submitter", "") },
			"submitter": func(n source.Node) {
				group.NotSubmitter = !isOnly(n, "submitter", "counts", ": without it, the submission is no vote")
			},
			"with": func(n source.Node) { group.Passkey = isOnly(n, "with", "passkey", "") },
		})
		switch {
		case group.Count == 0:
			item.Fail("an approval needs a count")
		case not && !group.NotSubmitter:
			item.Fail("not: submitter and submitter: counts exclude each other")
		case group.Tag == "" && len(group.Users) > 0 && len(group.Users) < group.Count:
			item.Fail("%d approvals of %d users can never be reached", group.Count, len(group.Users))
		}
		groups = append(groups, group)
	}
	d.checkReachable(n, groups)
	d.checkAlone(n, r, groups)
	return groups
}

// checkReachable refuses groups that the users cannot fill, each of them in one place.
func (d *draft) checkReachable(n source.Node, groups []access.Group) {
	named := func(group access.Group) bool { return group.Tag != "" || len(group.Users) > 0 }
	if d.names == nil || !slices.ContainsFunc(groups, named) {
		return
	}
	var all []access.Vote
	for _, user := range d.names.Users {
		if voters := d.names.Voters; voters == nil || slices.Contains(voters, user.ID) {
			all = append(all, access.Vote{User: user})
		}
	}
	groups = slices.Clone(groups)
	for i := range groups {
		groups[i].Passkey = false
	}
	for i, missing := range access.Missing(groups, all, "", time.Time{}) {
		if missing > 0 {
			count := groups[i].Count
			n.Fail("%d approvals are needed, but only %d of the users can give one", count, count-missing)
		}
	}
}

// checkAlone warns of a rule whose submitters can be all of its voters.
func (d *draft) checkAlone(n source.Node, r *rule, groups []access.Group) {
	if len(groups) == 0 || votes(groups) > 1 || groups[0].NotSubmitter {
		return
	}
	alone := []string{"whoever may submit and vote"}
	if d.names != nil {
		alone = nil
		for _, user := range d.names.Users {
			if access.BelongsTo(user, groups[0]) && r.who.holds(&access.Authorization{User: user}) {
				alone = append(alone, user.Name)
			}
		}
	}
	if len(alone) > 0 {
		d.problems.Warn(n.Place(), r.name, "the submission is the submitter's own approval, and this asks for no "+
			"other: %s can approve alone; omit submitter: counts if that is not intended", strings.Join(alone, ", "))
	}
}

func (r *rule) readNetworks(words *vocabulary, n source.Node) {
	for _, item := range n.Texts("chains") {
		network := words.readNetwork(item)
		if len(r.on) > 0 && !words.hasNamespace(r.on, namespaceOf(network)) {
			item.Fail("%s is no network of %s, which this rule is on", network, strings.Join(r.on, ", "))
		}
		r.networks = append(r.networks, network)
	}
}

// checkPrice requires a rule that asks for what is received to say what that pays for: with
// each: 1 one effect of a payload, with bundle: true all that it decides.
func (r *rule) checkPrice(n source.Node, each bool) {
	switch {
	case r.deny && (each || r.bundle || r.alone):
		n.Fail("a deny has no each, bundle or alone")
	case each && r.bundle:
		n.Fail("each: 1 and bundle: true exclude each other")
	case !r.priced && (each || r.bundle):
		n.Fail("each and bundle are of rules that ask for what is received, " +
			"as in effects.exists(e, e.kind == 'receive' && …)")
	case !r.deny && r.priced && !each && !r.bundle:
		n.Fail("what is received is counted once: add 'each: 1' if it is the price of one effect, " +
			"'bundle: true' if of all that this rule decides together")
	case r.alone && !r.request && !slices.Contains(r.kinds, chains.KindFee):
		n.Fail("alone: true is of rules on fee: it lets a fee be all that a request is for")
	case r.alone && len(r.limits) == 0:
		n.Fail("alone: true pays for whatever is sent, any number of times: add a limit, such as 'limit: gas-day'")
	}
}

// chainless are the hazards of what is valid on every chain, and so names none.
var chainless = []string{"no-chain-id", "any-chain-authorization", "empty-domain"}

// checkHazards requires a rule that allows hazards to say whether it is of transactions or
// messages and, where networks have numbers, on which of them. One that lists what names no
// network is of nothing else then.
func (r *rule) checkHazards(words *vocabulary, n source.Node) {
	if len(r.hazards) > 0 && r.of == "" {
		n.Fail("a rule with hazards says what it is of: add 'of: transactions' or 'of: messages'")
	}
	numbered := func(chain string) bool { return words.chain(chain).Numbered }
	if len(r.networks) > 0 || len(r.on) > 0 && !slices.ContainsFunc(r.on, numbered) {
		return
	}
	isChainless := func(hazard string) bool {
		_, what, _ := strings.Cut(hazard, "/")
		return slices.Contains(chainless, what)
	}
	at := slices.IndexFunc(r.hazards, func(hazard string) bool {
		whose, _, _ := strings.Cut(hazard, "/")
		return (hazard == blindCall || whose == "eip712" || numbered(whose)) && !isChainless(hazard)
	})
	switch {
	case at >= 0 && slices.ContainsFunc(r.hazards, isChainless):
		r.networks = []string{""}
	case at >= 0:
		n.Fail("%s is another danger on each network: add the networks, such as 'chains: [eip155:1]'", r.hazards[at])
	}
}
