package source

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// MaxFileBytes bounds the size of a file.
const MaxFileBytes = 512 << 10

// maxYAMLDepth bounds the nesting of a file.
const maxYAMLDepth = 16

// Node is a YAML value of a file. Its readers add problems to the file's report.
type Node struct {
	ast.Node
	report *Report
	Rule   string // the rule that it is part of, for problems
	form   *Form  // notes what is asked for, instead of a value; usually nil
}

// Entry is one member of a mapping.
type Entry struct {
	Name   string
	NameAt Place
	Node
}

func tokenPlace(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return FileStart
	}
	return Place{t.Position.Line, t.Position.Column}
}

// Place returns where the node starts.
func (n Node) Place() Place {
	switch of := n.Node.(type) {
	case *ast.MappingNode:
		if !of.IsFlowStyle && len(of.Values) > 0 {
			return tokenPlace(of.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		return tokenPlace(of.Key.GetToken())
	}
	return tokenPlace(n.GetToken())
}

// Fail adds a problem at the node.
func (n Node) Fail(message string, args ...any) {
	n.report.Add(n.Place(), n.Rule, message, args...)
}

// FailName adds a problem at the member's name.
func (e Entry) FailName(message string, args ...any) {
	e.report.Add(e.NameAt, e.Rule, message, args...)
}

// FailText adds a problem at a line and column of the node's text, both counted from 1.
func (n Node) FailText(line, column int, message string) {
	n.report.Add(n.textPlace(line, column), n.Rule, "%s", message)
}

func (n Node) checkPlain(depth int) bool {
	if depth > maxYAMLDepth {
		n.Fail("nested more than %d deep", maxYAMLDepth)
		return false
	}
	switch of := n.Node.(type) {
	case *ast.AnchorNode, *ast.AliasNode:
		n.Fail("anchors and aliases are not supported: write the value out")
		return false
	case *ast.TagNode, *ast.MergeKeyNode, *ast.DirectiveNode:
		n.Fail("tags, merge keys and directives are not supported")
		return false
	case *ast.MappingNode:
		return n.checkPairs(of.Values, depth)
	case *ast.MappingValueNode:
		return n.checkPairs([]*ast.MappingValueNode{of}, depth)
	case *ast.SequenceNode:
		for _, value := range of.Values {
			if value != nil && !n.with(value).checkPlain(depth+1) {
				return false
			}
		}
	}
	return true
}

func (n Node) checkPairs(pairs []*ast.MappingValueNode, depth int) bool {
	for _, pair := range pairs {
		if _, plain := pair.Key.(*ast.StringNode); !plain {
			if _, number := pair.Key.(ast.ScalarNode); !number || pair.Key.IsMergeKey() {
				n.with(pair.Key).Fail("expected a plain name here")
				return false
			}
		}
		if pair.Value != nil && !n.with(pair.Value).checkPlain(depth+1) {
			return false
		}
	}
	return true
}

func (n Node) with(other ast.Node) Node { return Node{Node: other, report: n.report, Rule: n.Rule} }

// Quiet returns the node with a report of its own, so that its problems are not shown.
func (n Node) Quiet() Node { return Node{Node: n.Node, report: new(Report)} }

// IsNull reports whether the value is missing or null.
func (n Node) IsNull() bool {
	_, null := n.Node.(*ast.NullNode)
	return n.Node == nil || null && n.form == nil
}

// IsMapping reports whether the node is a mapping.
func (n Node) IsMapping() bool {
	if n.form != nil {
		return n.form.isMapping
	}
	switch n.Node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// Pairs returns the members of a mapping. It refuses duplicate names.
func (n Node) Pairs(what string) []Entry {
	if form := n.form; form != nil {
		form.is("object")
		form.others = form.part(form.others)
		return []Entry{{Name: what, NameAt: FileStart, Node: form.others.node()}}
	}
	var pairs []*ast.MappingValueNode
	switch of := n.Node.(type) {
	case *ast.MappingNode:
		pairs = of.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{of}
	default:
		n.Fail("%s: expected a mapping, as in {name: value}", what)
		return nil
	}
	seen := map[string]bool{}
	var members []Entry
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		member := Entry{Name: key.Value, NameAt: tokenPlace(key), Node: n.with(pair.Value)}
		if seen[member.Name] {
			member.FailName("%s is given twice", quoted(member.Name))
			continue
		}
		seen[member.Name] = true
		members = append(members, member)
	}
	return members
}

// Fields reads a mapping with a reader for each known member, in the order of the file.
func (n Node) Fields(what string, readers map[string]func(Node)) {
	if n.form != nil {
		n.form.fields(what, readers)
		return
	}
	for _, member := range n.Pairs(what) {
		read, known := readers[member.Name]
		switch {
		case !known:
			member.FailName("%s", noMember(what, member.Name, slices.Sorted(maps.Keys(readers))))
		case member.Node.IsNull():
			member.FailName("%s has no value", member.Name)
		default:
			read(member.Node)
		}
	}
}

// noMember says that a mapping has no such member, and which one may have been meant. The
// names of members that name a file end in File, which is easily left out.
func noMember(what, name string, known []string) string {
	shown := quoted(name)
	// Our names are all in ASCII: other letters look alike, or show nothing.
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		shown = strconv.QuoteToASCII(shown)
	}
	message := what + " has no member " + shown
	if meant := Meant(message, name, known); meant != message {
		return meant
	}
	for _, candidate := range known {
		if short, file := strings.CutSuffix(candidate, "File"); file && Meant("", name, []string{short}) != "" {
			return message + ": did you mean " + candidate + "?"
		}
	}
	return message
}

// Items returns the values of a list.
func (n Node) Items(what string) []Node {
	if n.form != nil {
		return n.form.list()
	}
	list, ok := n.Node.(*ast.SequenceNode)
	if !ok {
		n.Fail("%s: expected a list, as in [item, item]", what)
		return nil
	}
	items := make([]Node, 0, len(list.Values))
	for _, value := range list.Values {
		if item := n.with(value); value == nil || item.IsNull() {
			n.Fail("%s: an item without a value", what)
		} else {
			items = append(items, item)
		}
	}
	return items
}

// glued returns text with a colon that no space follows, as in {chains: [eip155:1]}: to YAML
// that is a scalar, to its parser a mapping.
func glued(of *ast.MappingNode) (text string, ok bool) {
	if len(of.Values) != 1 {
		return "", false
	}
	key, value := of.Values[0].Key.GetToken(), of.Values[0].Value.GetToken()
	text = key.Value + ":" + value.Value
	return text, key.Position.Line == value.Position.Line && key.Position.Column+len(key.Value)+1 == value.Position.Column
}

// Text returns a scalar as written.
func (n Node) Text(what string) string {
	if n.form != nil {
		n.form.is("string", "number", "boolean") // a scalar is taken as written
		return ""
	}
	switch of := n.Node.(type) {
	case *ast.StringNode:
		return of.Value
	case *ast.LiteralNode:
		return of.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	case *ast.MappingNode:
		if text, ok := glued(of); ok {
			return text
		}
		n.Fail("%s: expected text: put one that has a colon in quotes", what)
	case *ast.MappingValueNode:
		n.Fail("%s: expected text: put one that has a colon in quotes", what)
	default:
		n.Fail("%s: expected text", what)
	}
	return ""
}

// OneOf returns a scalar as written, and whether it is one of some values.
func (n Node) OneOf(what string, values ...string) (text string, ok bool) {
	if n.form != nil {
		n.form.values = values
	}
	text = n.Text(what)
	return text, slices.Contains(values, text)
}

// Texts returns the items of a list, or a single value as a list of one.
func (n Node) Texts(what string) []Node {
	if n.form != nil {
		return append(n.form.list(), n)
	}
	if _, list := n.Node.(*ast.SequenceNode); list {
		return n.Items(what)
	}
	return []Node{n}
}

// Strings returns one or several scalars as written.
func (n Node) Strings(what string) []string {
	var texts []string
	for _, item := range n.Texts(what) {
		texts = append(texts, item.Text(what))
	}
	return texts
}

// Boolean returns true or false.
func (n Node) Boolean(what string) bool {
	if n.form != nil {
		n.form.is("boolean")
	}
	if of, ok := n.Node.(*ast.BoolNode); ok {
		return of.Value
	}
	n.Fail("%s: expected true or false", what)
	return false
}

// Integer returns a whole number from least to most.
func (n Node) Integer(what string, least, most int) int {
	value, err := strconv.Atoi(n.Text(what))
	if n.form != nil {
		n.form.integer()
		n.form.least, n.form.most = &least, &most
	}
	if err != nil || value < least || value > most {
		n.Fail("%s: expected a whole number from %d to %d", what, least, most)
		return least
	}
	return value
}

// Duration returns a duration such as 90m, 24h or 7d, from least to most.
func (n Node) Duration(what string, least, most time.Duration) time.Duration {
	text := n.Text(what)
	value, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var count int
		if count, err = strconv.Atoi(days); err == nil && count >= 0 && count <= 366 {
			value = time.Duration(count) * 24 * time.Hour
		}
	}
	if err != nil || value < least || value > most {
		n.Fail("%s: expected a duration from %v to %v, such as 24h or 7d", what, least, most)
		return least
	}
	return value
}

// Instant returns a time in RFC 3339.
func (n Node) Instant(what string) time.Time {
	value, err := time.Parse(time.RFC3339, n.Text(what))
	if err != nil {
		n.Fail("%s: expected a time such as 2026-11-23T09:00:00Z", what)
	}
	return value
}

// textPlace returns the place in the file of a line and column of the node's text, both
// counted from 1.
func (n Node) textPlace(line, column int) Place {
	start := n.Place()
	literal, block := n.Node.(*ast.LiteralNode)
	switch {
	case block:
		return blockPlace(start, literal, line, column)
	case n.GetToken().Type == token.SingleQuoteType, n.GetToken().Type == token.DoubleQuoteType:
		column++
	}
	if line > 1 {
		return start // of a text that is folded over lines
	}
	return Place{start.Line, start.Column + column - 1}
}

// blockPlace is textPlace for a block scalar, which begins on the next line; its lines
// are kept (|) or folded into one (>).
func blockPlace(start Place, block *ast.LiteralNode, line, column int) Place {
	fileLine := start.Line + 1
	for written := range strings.Lines(block.Value.GetToken().Origin) {
		content := strings.TrimRight(strings.TrimLeft(written, " "), "\r\n")
		length := utf8.RuneCountInString(content) + 1
		folded := block.Start.Value[0] == '>'
		switch {
		case folded && column > length:
			column -= length
		case !folded && line > 1:
			line--
		default:
			indentation := len(written) - len(strings.TrimLeft(written, " "))
			return Place{fileLine, indentation + column}
		}
		fileLine++
	}
	return Place{fileLine, column}
}
