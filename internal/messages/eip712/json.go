package eip712

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/chains"
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

// node is a JSON value.
type node struct {
	kind    jsontext.Kind // '{' '[' '"' '0' 't' 'f' 'n'
	offset  int           // in bytes
	text    string        // of a string, its text; of a number, its digits
	members []member      // of an object, in order
	list    []node        // of an array
}

type member struct {
	name   string
	offset int
	node   node
}

// find returns a member by name.
func (n *node) find(name string) (*node, bool) {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i].node, true
		}
	}
	return nil, false
}

// document reads JSON text into nodes.
type document struct {
	text    []byte
	decoder *jsontext.Decoder
	values  int
	open    []node // the elements so far of the arrays that are being read
}

// next returns the offset of the next token.
func (d *document) next() int {
	rest := d.text[d.decoder.InputOffset():]
	return len(d.text) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

// readDocument reads one JSON value and refuses anything after it. The decoder refuses
// duplicate names, invalid UTF-8 and unpaired surrogates.
func readDocument(text []byte) (node, error) {
	if len(text) > MaxBytes {
		return node{}, malformed("", -1, "%d bytes of JSON: at most %d are supported", len(text), MaxBytes)
	}
	d := document{text: text, decoder: jsontext.NewDecoder(bytes.NewReader(text))}
	d.open = make([]node, 0, min(MaxValues, bytes.Count(text, []byte{','})))
	root, err := d.value(0)
	if err != nil {
		return node{}, err
	}
	if _, err := d.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return node{}, malformed("", d.next(), "unexpected text after the JSON object")
	}
	return root, nil
}

// maxNesting bounds the nesting of the JSON, before types are known: MaxDepth levels of
// a value, and those around it.
const maxNesting = MaxDepth + 4

func (d *document) value(depth int) (n node, err error) {
	if d.values++; d.values > MaxValues {
		return n, malformed("", int(d.decoder.InputOffset()), "more than %d values", MaxValues)
	}
	offset := d.next()
	token, err := d.decoder.ReadToken()
	if err != nil {
		return n, d.fail(err)
	}
	n = node{kind: token.Kind(), offset: offset}
	if depth > maxNesting {
		return n, malformed("", n.offset, "nested more than %d levels deep", maxNesting)
	}
	switch n.kind {
	case '{':
		return n, d.object(&n, depth)
	case '[':
		return n, d.array(&n, depth)
	case '"', '0':
		n.text = token.String()
	}
	return n, nil
}

func (d *document) object(n *node, depth int) error {
	for d.decoder.PeekKind() != '}' {
		offset := d.next()
		token, err := d.decoder.ReadToken()
		if err != nil {
			return d.fail(err)
		}
		name := token.String()
		value, err := d.value(depth + 1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, offset, value})
	}
	_, err := d.decoder.ReadToken()
	return d.fail(err)
}

func (d *document) array(n *node, depth int) error {
	first := len(d.open)
	for d.decoder.PeekKind() != ']' {
		value, err := d.value(depth + 1)
		if err != nil {
			return err
		}
		d.open = append(d.open, value)
	}
	n.list = slices.Clone(d.open[first:])
	d.open = d.open[:first]
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

// malformed returns a *chains.ParseError of this package.
func malformed(field string, offset int, format string, args ...any) *chains.ParseError {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset, Problem: fmt.Sprintf(format, args...)}
}
