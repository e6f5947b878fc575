package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
)

// Bounds of a file.
const (
	MaxRules      = 1000
	MaxLimits     = 100
	MaxAssets     = 1000
	MaxAddresses  = 50_000 // of all lists
	MaxTests      = 1000
	MinWindow     = time.Minute
	MaxWindow     = 31 * 24 * time.Hour
	DefaultWithin = 24 * time.Hour // for how long an approval counts
	MaxApprovers  = 20             // of one group
)

var (
	ruleName  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	valueName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// read reads the file's members, names before what uses them.
func (c *compiler) read(content []byte) {
	root, ok := parseYAML(content, c.problems)
	if !ok {
		return
	}
	parts := map[string]node{}
	readers := map[string]func(node){}
	for _, name := range []string{"schema", "lists", "assets", "limits", "rules", "tests"} {
		readers[name] = func(n node) { parts[name] = n }
	}
	root.fields("the file", readers)
	c.readSchema(root, parts["schema"])
	each(parts["lists"], "lists", c.readList)
	each(parts["assets"], "assets", c.readAsset)
	if len(c.lists)+len(c.assets) > MaxAssets {
		root.fail("more than %d lists and assets", MaxAssets)
		return
	}
	var err error
	if c.env, err = newEnvironment(c.lists, c.assets); err != nil {
		root.fail("%v", err)
		return
	}
	items(parts["limits"], "limits", MaxLimits, c.readLimit)
	items(parts["rules"], "rules", MaxRules, c.readRule)
	items(parts["tests"], "tests", MaxTests, c.readTest)
	if parts["rules"].Node == nil {
		root.fail("rules is missing: without a rule nothing is allowed")
	}
}

// each reads the members of a mapping, if it is there.
func each(of node, what string, read func(entry)) {
	if of.Node == nil {
		return
	}
	for _, one := range of.pairs(what) {
		if one.node.isNull() {
			of.problems.add(one.at, "", "%s has no value", shorten(one.name))
			continue
		}
		read(one)
	}
}

// items reads the items of a list, if it is there.
func items(of node, what string, most int, read func(node)) {
	if of.Node == nil {
		return
	}
	list := of.items(what)
	if len(list) > most {
		of.fail("%d %s, at most %d are allowed", len(list), what, most)
		return
	}
	for _, one := range list {
		read(one)
	}
}

func (c *compiler) readSchema(root, schema node) {
	switch {
	case schema.Node == nil:
		root.fail("schema is missing: write 'schema: %s'", Schema)
	case schema.text("schema") != Schema:
		schema.fail("schema %s is not known: this is for %s", shorten(schema.text("schema")), Schema)
	}
}

// checkName refuses a name of a list or asset that expressions cannot use.
func (c *compiler) checkName(one entry, what string) bool {
	_, variable := variables()[one.name]
	_, listed := c.lists[one.name]
	switch {
	case !valueName.MatchString(one.name):
		c.problems.add(one.at, "", "%s %q: a name is a lower-case letter, then letters, digits and _", what, shorten(one.name))
	case variable || literalFunctions[one.name] || slices.Contains(reservedWords, one.name):
		c.problems.add(one.at, "", "%s %s: this name means something else in conditions", what, one.name)
	case listed:
		c.problems.add(one.at, "", "%s %s: a list has this name", what, one.name)
	default:
		return true
	}
	return false
}

// reservedWords cannot be names in CEL, or are functions here.
var reservedWords = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
	"import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
	"has", "all", "exists", "filter", "size", "contains", "total"}

func (c *compiler) readList(one entry) {
	if !c.checkName(one, "list") {
		return
	}
	made := &list{at: one.at}
	seen := map[string]bool{}
	wallets, total := 0, 0
	for _, other := range c.lists {
		total += len(other.addresses)
	}
	for _, item := range one.items("list " + one.name) {
		read, err := parseAddress(item.text("address"))
		switch {
		case err != nil:
			item.fail("%v", err)
			continue
		case seen[read.key()]:
			item.fail("%s is in this list twice", read)
		case len(made.addresses)+total >= MaxAddresses:
			item.fail("more than %d addresses in all lists", MaxAddresses)
			return
		}
		if read.namespace == "solana" {
			wallets++
		}
		seen[read.key()] = true
		made.addresses = append(made.addresses, read)
	}
	if wallets > MaxSolanaWallets {
		one.fail("%d addresses of Solana, a list has at most %d", wallets, MaxSolanaWallets)
	}
	if len(made.addresses) == 0 {
		one.fail("list %s is empty: nothing is in it", one.name)
	}
	made.value = newAddressList(made.addresses)
	c.lists[one.name] = made
}

func (c *compiler) readAsset(one entry) {
	if !c.checkName(one, "asset") {
		return
	}
	made := &asset{decimals: -1}
	var token, id string
	one.fields("asset "+one.name, map[string]func(node){
		"chain":    func(n node) { made.Chain = c.readChainID(n) },
		"token":    func(n node) { token = n.text("token") },
		"id":       func(n node) { id = n.text("id") },
		"decimals": func(n node) { made.decimals = n.integer("decimals", 0, maxDecimals) },
		"standard": func(n node) { made.Standard = n.text("standard") },
	})
	c.assets[one.name], c.assetAt[one.name] = made, one.at
	switch native, known := nativeDecimals[namespaceOf(made.Chain)]; {
	case made.Chain == "":
		c.problems.add(one.at, "", "asset %s: chain is missing, such as eip155:1, solana, tron or bip122", one.name)
	case token == "" && id == "":
		c.problems.add(one.at, "", "asset %s: token is missing: an address, or native", one.name)
	case token == "native" && known && made.decimals >= 0 && made.decimals != native:
		c.problems.add(one.at, "", "asset %s: the native asset of %s has %d decimals", one.name, made.Chain, native)
	case token == "native":
		made.decimals = native
	case id != "" && token == "":
		made.TokenID = id
	default:
		c.readToken(one, made, token)
	}
}

// nativeDecimals are those of the native assets of the namespaces.
var nativeDecimals = map[string]int{"eip155": 18, "solana": 9, "tron": 6, "bip122": 8}

var chainID = regexp.MustCompile(`^(eip155:[1-9][0-9]{0,19}|solana|tron|bip122)$`)

func (c *compiler) readChainID(n node) string {
	text := n.text("chain")
	if !chainID.MatchString(text) {
		n.fail("chain %q: eip155: and a chain id, solana, tron or bip122 is expected", shorten(text))
		return ""
	}
	return text
}

func (c *compiler) readToken(one entry, made *asset, text string) {
	read, err := parseAddress(text)
	if err == nil && read.namespace != namespaceOf(made.Chain) {
		err = fmt.Errorf("%s is an address of %s, not of %s", shorten(text), read.namespace, made.Chain)
	}
	if err == nil && made.decimals < 0 {
		err = errors.New("decimals is missing: no node is asked")
	}
	if err != nil {
		c.problems.add(one.at, "", "asset %s: %v", one.name, err)
		return
	}
	made.Token = chains.PartyWritten([]byte(read.bytes), read.text)
}

// subjects are what limits can be counted for.
var subjects = []string{"key", "wallet", "user", "credential", "to", "organization"}

func (c *compiler) readLimit(n node) {
	made := &limit{at: n.at()}
	var most node
	n.fields("a limit", map[string]func(node){
		"name":   func(n node) { made.name = n.text("name") },
		"asset":  func(n node) { made.asset = c.asset(n) },
		"max":    func(n node) { most = n },
		"window": func(n node) { made.window = n.duration("window", MinWindow, MaxWindow) },
		"per": func(n node) {
			if made.per = n.text("per"); !slices.Contains(subjects, made.per) {
				n.fail("%s", meant("per: "+shorten(made.per)+" is none of "+strings.Join(subjects, ", "), made.per, subjects))
			}
		},
	})
	_, twice := c.file.limits[made.name]
	switch {
	case !ruleName.MatchString(made.name):
		n.fail("a limit needs a name of lower-case letters, digits and -, not %q", shorten(made.name))
		return
	case twice:
		n.fail("limit %s is here twice", made.name)
	case made.asset == nil || most.Node == nil || made.window == 0 || made.per == "":
		n.fail("limit %s needs asset, max, window and per", made.name)
	default:
		c.readMax(made, most)
	}
	c.file.limits[made.name] = made
}

func (c *compiler) readMax(made *limit, n node) {
	value, err := parseUnits(n.text("max"), max(made.asset.decimals, 0))
	if err != nil || value.Sign() == 0 {
		n.fail("max: an amount of the asset above zero is expected, such as \"10000\" or \"0.5\": %v", err)
		return
	}
	made.max = value
}

// asset returns an asset of the file by its name.
func (c *compiler) asset(n node) *asset {
	name := n.text("asset")
	found, ok := c.assets[name]
	if !ok {
		n.fail("%s", meant("there is no asset "+shorten(name), name, sortedKeys(c.assets)))
		return nil
	}
	c.usedAssets[name] = true
	return found
}

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

func (c *compiler) readApprovals(n node, rule string, within time.Duration) []countersign.Approval {
	var groups []countersign.Approval
	for _, item := range n.items("approvals") {
		group := countersign.Approval{Rule: rule, Within: within}
		item.fields("an approval", map[string]func(node){
			"count": func(n node) { group.Count = n.integer("count", 1, MaxApprovers) },
			"tag":   func(n node) { group.Tag = c.tag(n) },
			"users": func(n node) { group.Users = c.users(n) },
			"not": func(n node) {
				if group.NotSubmitter = n.text("not") == "submitter"; !group.NotSubmitter {
					n.fail("not: submitter is all that can be said here")
				}
			},
			"with": func(n node) {
				if group.Passkey = n.text("with") == "passkey"; !group.Passkey {
					n.fail("with: passkey is all that can be said here")
				}
			},
		})
		switch {
		case group.Count == 0:
			item.fail("an approval needs a count")
		case group.Tag == "" && len(group.Users) > 0 && len(group.Users) < group.Count:
			item.fail("%d approvals of %d users can never be had", group.Count, len(group.Users))
		}
		c.checkReachable(item, &group)
		groups = append(groups, group)
	}
	return groups
}

// checkReachable refuses a group that too few users can fill.
func (c *compiler) checkReachable(n node, group *countersign.Approval) {
	if c.options.Names == nil || group.Tag == "" && len(group.Users) == 0 {
		return
	}
	able := 0
	for _, user := range c.options.Names.Users {
		if slices.Contains(group.Users, user.ID) || group.Tag != "" && slices.Contains(user.Tags, group.Tag) {
			able++
		}
	}
	if able < group.Count {
		n.fail("%d approvals are needed, and %d users can give one", group.Count, able)
	}
}
