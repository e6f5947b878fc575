package yamlfile

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Fields reads a mapping with a reader for each known member, in the order of the file.
func (n Node) Fields(what string, readers map[string]func(Node)) {
	for _, member := range n.Pairs(what) {
		read, known := readers[member.Name]
		switch {
		case !known:
			n.Problems.Add(member.At, n.Rule, "%s", noMember(what, member.Name, sortedKeys(readers)))
		case member.IsNull():
			n.Problems.Add(member.At, n.Rule, "%s has no value", member.Name)
		default:
			read(member.Node)
		}
	}
}

// noMember says that a mapping has no such member, and which one may have been meant. The
// names of members that name a file end in File, which is easily left out.
func noMember(what, name string, known []string) string {
	message := what + " has no member " + Shorten(name)
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
	list, ok := n.Node.(*ast.SequenceNode)
	if !ok {
		n.Fail("%s: expected a list", what)
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

// Text returns a scalar as written.
func (n Node) Text(what string) string {
	switch of := n.Node.(type) {
	case *ast.StringNode:
		return of.Value
	case *ast.LiteralNode:
		return of.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	}
	switch n.Node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		n.Fail("%s: expected text: put one that has a colon in quotes", what)
	default:
		n.Fail("%s: expected text", what)
	}
	return ""
}

// Texts returns the items of a list, or a single value as a list of one.
func (n Node) Texts(what string) []Node {
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
	if of, ok := n.Node.(*ast.BoolNode); ok {
		return of.Value
	}
	n.Fail("%s: expected true or false", what)
	return false
}

// Integer returns a whole number from least to most.
func (n Node) Integer(what string, least, most int) int {
	value, err := strconv.Atoi(n.Text(what))
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

// TextPlace returns the place in the file of a line and column of the node's text, both
// counted from 1.
func (n Node) TextPlace(line, column int) Place {
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

// blockPlace is TextPlace for a block scalar, which begins on the next line; its lines
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
