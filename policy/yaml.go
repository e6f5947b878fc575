package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFileBytes bounds the size of a file.
const maxFileBytes = 512 << 10

// maxYAMLDepth bounds the nesting of a file.
const maxYAMLDepth = 16

// node is a YAML value of the file. Its readers add problems to problems.
type node struct {
	ast.Node
	problems *problems
	rule     string // the rule that it is part of
}

// entry is one member of a mapping.
type entry struct {
	name  string
	place place // of the name
	node
}

// parseYAML parses content as a single YAML document. It refuses everything beyond
// plain data (anchors, aliases, tags, merge keys, several documents), and input that
// could make the YAML library slow.
func parseYAML(content []byte, report *problems) (node, bool) {
	if problem := unreadable(content); problem != "" {
		report.add(place{1, 1}, "", "%s", problem)
		return node{}, false
	}
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		report.addSyntax(err)
		return node{}, false
	}
	if len(file.Docs) == 1 && file.Docs[0].Body == nil {
		report.add(place{1, 1}, "", "the file is empty: it needs at least schema and rules")
		return node{}, false
	}
	if len(file.Docs) != 1 {
		report.add(place{1, 1}, "", "expected one YAML document, found %d", len(file.Docs))
		return node{}, false
	}
	root := node{Node: file.Docs[0].Body, problems: report}
	if !root.checkPlain(0) {
		return node{}, false
	}
	return root, true
}

// unreadable returns why content is refused before it is parsed; empty if it is not.
func unreadable(content []byte) string {
	switch {
	case len(content) > maxFileBytes:
		return fmt.Sprintf("%d bytes, a file has at most %d", len(content), maxFileBytes)
	case !utf8.Valid(content):
		return "not UTF-8"
	case slices.ContainsFunc([]rune(string(content)), func(letter rune) bool { return letter < ' ' && letter != '\n' && letter != '\r' }):
		return "a control character or a tab: indent with spaces"
	case nesting(content) > maxYAMLDepth:
		return fmt.Sprintf("nested more than %d deep", maxYAMLDepth)
	}
	return ""
}

// nesting returns an upper bound for the nesting of flow collections, and of sequences
// and explicit keys that open on one line. It does not parse the YAML.
func nesting(content []byte) int {
	depth, deepest := 0, 0
	for line := range strings.Lines(string(content)) {
		opened := strings.TrimLeft(line, " ")
		deepest = max(deepest, (len(opened)-len(strings.TrimLeft(opened, "-?: ")))/2)
		for _, letter := range []byte(line) {
			switch letter {
			case '[', '{':
				depth++
				deepest = max(deepest, depth)
			case ']', '}':
				depth = max(0, depth-1)
			}
		}
	}
	return deepest
}

// addSyntax adds an error of the YAML library with its place.
func (p *problems) addSyntax(err error) {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		p.add(place{1, 1}, "", "not YAML: %v", err)
		return
	}
	message, _, _ := strings.Cut(syntax.GetMessage(), "\n")
	p.add(tokenPlace(syntax.GetToken()), "", "%s", message)
}

func tokenPlace(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{t.Position.Line, t.Position.Column}
}

// place returns where the node starts.
func (n node) place() place {
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

// fail adds a problem at the node.
func (n node) fail(message string, args ...any) {
	n.problems.add(n.place(), n.rule, message, args...)
}

// checkPlain refuses everything but plain data.
func (n node) checkPlain(depth int) bool {
	if depth > maxYAMLDepth {
		n.fail("nested more than %d deep", maxYAMLDepth)
		return false
	}
	switch of := n.Node.(type) {
	case *ast.AnchorNode, *ast.AliasNode:
		n.fail("anchors and aliases are not supported: write the value out, or define a list")
		return false
	case *ast.TagNode, *ast.MergeKeyNode, *ast.DirectiveNode:
		n.fail("tags, merge keys and directives are not supported")
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

func (n node) checkPairs(pairs []*ast.MappingValueNode, depth int) bool {
	for _, pair := range pairs {
		if _, plain := pair.Key.(*ast.StringNode); !plain {
			if _, number := pair.Key.(ast.ScalarNode); !number || pair.Key.IsMergeKey() {
				n.with(pair.Key).fail("expected a plain name here")
				return false
			}
		}
		if pair.Value != nil && !n.with(pair.Value).checkPlain(depth+1) {
			return false
		}
	}
	return true
}

func (n node) with(other ast.Node) node { return node{other, n.problems, n.rule} }

func (n node) isNull() bool {
	if n.Node == nil {
		return true
	}
	_, null := n.Node.(*ast.NullNode)
	return null
}

// pairs returns the members of a mapping. It refuses duplicate names.
func (n node) pairs(what string) []entry {
	var pairs []*ast.MappingValueNode
	switch of := n.Node.(type) {
	case *ast.MappingNode:
		pairs = of.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{of}
	default:
		n.fail("%s: expected a mapping", what)
		return nil
	}
	seen := map[string]bool{}
	var members []entry
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		member := entry{name: key.Value, place: tokenPlace(key), node: n.with(pair.Value)}
		if seen[member.name] {
			n.problems.add(member.place, n.rule, "%s is given twice", shorten(member.name))
			continue
		}
		seen[member.name] = true
		members = append(members, member)
	}
	return members
}

// fields reads a mapping with a reader for each known member, in the order of the file.
func (n node) fields(what string, readers map[string]func(node)) {
	for _, member := range n.pairs(what) {
		read, known := readers[member.name]
		switch {
		case !known:
			n.problems.add(member.place, n.rule, "%s", meant(what+" has no member "+shorten(member.name), member.name, sortedKeys(readers)))
		case member.node.isNull():
			n.problems.add(member.place, n.rule, "%s has no value", member.name)
		default:
			read(member.node)
		}
	}
}

// items returns the values of a list.
func (n node) items(what string) []node {
	list, ok := n.Node.(*ast.SequenceNode)
	if !ok {
		n.fail("%s: expected a list", what)
		return nil
	}
	items := make([]node, 0, len(list.Values))
	for _, value := range list.Values {
		if item := n.with(value); value == nil || item.isNull() {
			n.fail("%s: an item without a value", what)
		} else {
			items = append(items, item)
		}
	}
	return items
}

// text returns a scalar as written.
func (n node) text(what string) string {
	switch of := n.Node.(type) {
	case *ast.StringNode:
		return of.Value
	case *ast.LiteralNode:
		return of.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	}
	n.fail("%s: expected text", what)
	return ""
}

// texts returns the items of a list, or a single value as a list of one.
func (n node) texts(what string) []node {
	if _, list := n.Node.(*ast.SequenceNode); list {
		return n.items(what)
	}
	return []node{n}
}

// strings returns one or several scalars as written.
func (n node) strings(what string) []string {
	var texts []string
	for _, item := range n.texts(what) {
		texts = append(texts, item.text(what))
	}
	return texts
}

func (n node) boolean(what string) bool {
	if of, ok := n.Node.(*ast.BoolNode); ok {
		return of.Value
	}
	n.fail("%s: expected true or false", what)
	return false
}

// integer returns a whole number from least to most.
func (n node) integer(what string, least, most int) int {
	value, err := strconv.Atoi(n.text(what))
	if err != nil || value < least || value > most {
		n.fail("%s: expected a whole number from %d to %d", what, least, most)
		return least
	}
	return value
}

// duration returns a duration such as 90m, 24h or 7d, from least to most.
func (n node) duration(what string, least, most time.Duration) time.Duration {
	text := n.text(what)
	value, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var count int
		if count, err = strconv.Atoi(days); err == nil && count >= 0 && count <= 366 {
			value = time.Duration(count) * 24 * time.Hour
		}
	}
	if err != nil || value < least || value > most {
		n.fail("%s: expected a duration from %v to %v, such as 24h or 7d", what, least, most)
		return least
	}
	return value
}

// instant returns a time in RFC 3339.
func (n node) instant(what string) time.Time {
	value, err := time.Parse(time.RFC3339, n.text(what))
	if err != nil {
		n.fail("%s: expected a time such as 2026-11-23T09:00:00Z", what)
	}
	return value
}

// textPlace returns the place in the file of a line and column of the node's text, both
// counted from 1.
func (n node) textPlace(line, column int) place {
	start := n.place()
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
	return place{start.line, start.column + column - 1}
}

// blockPlace is textPlace for a block scalar, which begins on the next line; its lines
// are kept (|) or folded into one (>).
func blockPlace(start place, block *ast.LiteralNode, line, column int) place {
	fileLine := start.line + 1
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
			return place{fileLine, indentation + column}
		}
		fileLine++
	}
	return place{fileLine, column}
}
