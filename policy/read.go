package policy

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of a file.
const (
	MaxRules      = 1000
	MaxLimits     = 100
	MaxAssets     = 1000
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
	if c.misnamed {
		return // what follows would be about names that are not there
	}
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
