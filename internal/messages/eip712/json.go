package eip712

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Name is the Chain of this package's errors.
const Name = "eip712"

// Bounds of typed data.
const (
	MaxBytes  = 256 << 10 // of the JSON text
	MaxDepth  = 16        // of structs and arrays in a value
	MaxTypes  = 128       // structs
	MaxName   = 128       // bytes in the name of a type or member
	MaxValues = 16_384    // JSON values in total
)

// node is a JSON value. Its texts are parts of the document's, unless they have escapes.
type node struct {
	kind   jsontext.Kind // '{' '[' '"' '0' 't' 'f' 'n'
	offset int           // in bytes
	text   string        // of a string, its text; of a number, its digits

	count int   // of an object or an array: how many members or elements
	first *node // of them
	next  *node // in the same object or array

	name       string // of a member
	nameOffset int
}

func (n *node) find(name string) (*node, bool) {
	for child := n.first; child != nil; child = child.next {
		if child.name == name {
			return child, true
		}
	}
	return nil, false
}

// document reads JSON text into nodes.
type document struct {
	text    string
	decoder *strictjson.Decoder
	values  int
	free    []node // allocated and not yet used
	size    int    // of the last allocation
}

// Nodes are allocated many at a time: few for a short text, and never more than twice what it has.
const (
	fewNodes  = 32
	manyNodes = 1024
)

func (d *document) node() *node {
	if len(d.free) == 0 {
		d.size = min(max(fewNodes, 2*d.size), manyNodes)
		d.free = make([]node, d.size)
	}
	n := &d.free[0]
	d.free = d.free[1:]
	return n
}

// next returns the offset of the next token.
func (d *document) next() int {
	offset := int(d.decoder.InputOffset())
	for offset < len(d.text) && strings.IndexByte(" \t\r\n,:", d.text[offset]) >= 0 {
		offset++
	}
	return offset
}

// readDocument reads one JSON value and refuses anything after it. The decoder refuses
// duplicate names, invalid UTF-8 and unpaired surrogates.
func readDocument(text []byte) (*node, error) {
	if len(text) > MaxBytes {
		return nil, malformed("", -1, "%d bytes of JSON: at most %d are supported", len(text), MaxBytes)
	}
	d := document{text: string(text), decoder: strictjson.NewDecoder(text)}
	defer d.decoder.Free()
	root := d.node()
	if err := d.value(root, 0); err != nil {
		return nil, err
	}
	if _, err := d.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, malformed("", d.next(), "unexpected text after the JSON object")
	}
	return root, nil
}

// maxNesting bounds the nesting of the JSON, before types are known: MaxDepth levels of
// a value, and those around it.
const maxNesting = MaxDepth + 4

func (d *document) value(n *node, depth int) error {
	if d.values++; d.values > MaxValues {
		return malformed("", int(d.decoder.InputOffset()), "more than %d values", MaxValues)
	}
	n.offset = d.next()
	token, err := d.decoder.ReadToken()
	if err != nil {
		return d.fail(err)
	}
	if n.kind = token.Kind(); depth > maxNesting {
		return malformed("", n.offset, "nested more than %d levels deep", maxNesting)
	}
	switch n.kind {
	case '{':
		return d.children(n, '}', depth)
	case '[':
		return d.children(n, ']', depth)
	case '"', '0':
		n.text = d.textOf(token, n.offset)
	}
	return nil
}

// textOf returns the text of the token that was just read from an offset.
func (d *document) textOf(token jsontext.Token, offset int) string {
	raw := d.text[offset:d.decoder.InputOffset()]
	switch {
	case raw[0] != '"':
		return raw
	case strings.IndexByte(raw, '\\') >= 0:
		return token.String()
	}
	return raw[1 : len(raw)-1]
}

// children reads the members of an object, or the elements of an array, up to its end.
func (d *document) children(n *node, end jsontext.Kind, depth int) error {
	for next := &n.first; d.decoder.PeekKind() != end; n.count++ {
		child := d.node()
		if n.kind == '{' {
			child.nameOffset = d.next()
			token, err := d.decoder.ReadToken()
			if err != nil {
				return d.fail(err)
			}
			child.name = d.textOf(token, child.nameOffset)
		}
		if err := d.value(child, depth+1); err != nil {
			return err
		}
		*next, next = child, &child.next
	}
	_, err := d.decoder.ReadToken()
	return d.fail(err)
}

// fail converts an error of the decoder.
func (d *document) fail(err error) error {
	if err == nil {
		return nil
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return malformed("", int(syntactic.ByteOffset), "not JSON: %v", syntactic.Err)
	}
	return malformed("", int(d.decoder.InputOffset()), "not JSON: the text is truncated")
}

// within puts the path of a struct or an array before the field of an error. Paths are written
// as an error passes through, so that what is read without one writes none.
func within(err error, path string) error {
	if malformed, ok := errors.AsType[*chains.ParseError](err); ok {
		malformed.Field = path + malformed.Field
	}
	return err
}

// element is the path of an element of an array.
func element(i int) string { return "[" + strconv.Itoa(i) + "]" }

// malformed returns a *chains.ParseError of this package.
func malformed(field string, offset int, format string, args ...any) *chains.ParseError {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset,
		Problem: fmt.Sprintf(format, args...)}
}
