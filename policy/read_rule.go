package policy

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
)

func (c *compiler) readRule(n node) {
	made := &rule{index: len(c.file.rules), at: n.at(), byName: !c.knowsKeys()}
	n.rule = c.peekName(n)
	var scope, when, approvals node
	within := DefaultWithin
	n.fields("a rule", map[string]func(node){
		"name":      func(n node) { made.name = n.text("name") },
		"allow":     func(n node) { c.readScope(made, &scope, n, false) },
		"deny":      func(n node) { c.readScope(made, &scope, n, true) },
		"on":        func(n node) { made.on = c.readOn(n) },
		"who":       func(n node) { made.who = c.readWho(n, 0) },
		"key":       func(n node) { made.keys = c.readKeys(n) },
		"when":      func(n node) { when = n },
		"limit":     func(n node) { made.limits = c.readLimits(n) },
		"hazards":   func(n node) { made.hazards = c.readHazards(n) },
		"approvals": func(n node) { approvals = n },
		"within":    func(n node) { within = n.duration("within", time.Minute, 7*24*time.Hour) },
		"others":    func(n node) { made.others = n.boolean("others") },
	})
	if scope.Node == nil {
		n.fail("a rule needs allow or deny: a kind of effect, a list of kinds, or request")
	}
	if when.Node != nil && c.env != nil {
		made.when = c.compile(when, "when")
	}
	if approvals.Node != nil {
		made.approvals = c.readApprovals(approvals, made.name, within)
	}
	c.checkRule(made, n)
	c.file.rules = append(c.file.rules, made)
}

// peekName reads the name of a rule before its other members, for the problems
// of those.
func (c *compiler) peekName(n node) string {
	quiet := node{n.Node, new(problems), ""}
	for _, one := range quiet.pairs("a rule") {
		if one.name == "name" && !one.node.isNull() {
			return shorten(one.node.text("name"))
		}
	}
	return ""
}

func (c *compiler) readScope(made *rule, scope *node, n node, deny bool) {
	if scope.Node != nil {
		n.fail("a rule either allows or denies")
		return
	}
	*scope, made.deny = n, deny
	for _, item := range n.texts("allow or deny") {
		text := item.text("allow or deny")
		switch {
		case text == "request":
			made.request = true
		case text == "transaction":
			item.fail("transaction is no scope: name the kinds of effects, or say request, which judges every activity, also messages and one-time passwords")
		case !slices.Contains(kindNames(), text):
			item.fail("%s", meant(shorten(text)+" is no kind of effect", text, append(kindNames(), "request"))+
				": it is one of "+strings.Join(kindNames(), ", ")+", or request")
		case slices.Contains(made.kinds, chains.Kind(text)):
			item.fail("%s is here twice", text)
		default:
			made.kinds = append(made.kinds, chains.Kind(text))
		}
	}
	if made.request && len(made.kinds) > 0 {
		n.fail("request is the whole activity: it does not stand in a list with kinds")
	}
}

func (c *compiler) readOn(n node) []string {
	var on []string
	for _, item := range n.texts("on") {
		text := item.text("on")
		if !slices.Contains(chainNames(), text) {
			item.fail("%s", meant("on: "+shorten(text)+" is no chain", text, chainNames())+": "+strings.Join(chainNames(), ", "))
		}
		on = append(on, text)
	}
	return on
}

func (c *compiler) readLimits(n node) []*limit {
	var limits []*limit
	for _, item := range n.texts("limit") {
		name := item.text("limit")
		found, ok := c.file.limits[name]
		switch {
		case !ok:
			item.fail("%s", meant("there is no limit "+shorten(name), name, sortedKeys(c.file.limits)))
		case slices.Contains(limits, found):
			item.fail("limit %s is here twice", name)
		default:
			found.used = true
			limits = append(limits, found)
		}
	}
	return limits
}

func (c *compiler) readHazards(n node) []string {
	known := append(countersign.HazardNames(), blindCall)
	var names []string
	for _, item := range n.texts("hazards") {
		name := item.text("hazards")
		if !slices.Contains(known, name) {
			item.fail("%s", meant("there is no hazard "+shorten(name), name, known))
		}
		names = append(names, name)
	}
	return names
}

// blindCall stands for the blind calls of all chains.
const blindCall = "blind-call"
