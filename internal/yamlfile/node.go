// Package yamlfile reads a file of plain data in YAML, and reports mistakes in it at their
// place: file:line:column, the line and a caret, and for a misspelt name the one that may
// have been meant.
//
//	root, ok := yamlfile.Parse(content, maxBytes, problems)
//	root.Fields("the file", map[string]func(yamlfile.Node){"name": …}) // member by member
//	yamlfile.Decode(root, "the file", &config)                         // or into a struct
package yamlfile

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// maxDepth bounds the nesting of a file.
const maxDepth = 16

// Node is a YAML value of the file. Its readers add problems to Problems.
type Node struct {
	ast.Node
	Problems *Problems
	Rule     string // the rule that it is part of, for problems
}

// Entry is one member of a mapping.
type Entry struct {
	Name string
	At   Place // of the name
	Node
}

// Quiet returns the node with problems of its own, which are not reported.
func (n Node) Quiet() Node { return Node{n.Node, new(Problems), ""} }

func tokenPlace(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{1, 1}
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
	n.Problems.Add(n.Place(), n.Rule, message, args...)
}

// checkPlain refuses everything but plain data.
func (n Node) checkPlain(depth int) bool {
	if depth > maxDepth {
		n.Fail("nested more than %d deep", maxDepth)
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

func (n Node) with(other ast.Node) Node { return Node{other, n.Problems, n.Rule} }

// IsNull reports whether the node has no value.
func (n Node) IsNull() bool {
	if n.Node == nil {
		return true
	}
	_, null := n.Node.(*ast.NullNode)
	return null
}

// Pairs returns the members of a mapping. It refuses duplicate names.
func (n Node) Pairs(what string) []Entry {
	var pairs []*ast.MappingValueNode
	switch of := n.Node.(type) {
	case *ast.MappingNode:
		pairs = of.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{of}
	default:
		n.Fail("%s: expected a mapping", what)
		return nil
	}
	seen := map[string]bool{}
	var members []Entry
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		member := Entry{Name: key.Value, At: tokenPlace(key), Node: n.with(pair.Value)}
		if seen[member.Name] {
			n.Problems.Add(member.At, n.Rule, "%s is given twice", Shorten(member.Name))
			continue
		}
		seen[member.Name] = true
		members = append(members, member)
	}
	return members
}
