package eip712

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/chains"
)

// Name is what stands for a chain's name in the errors of this package.
const Name = "eip712"

// Bounds of typed data.
const (
	MaxBytes  = 256 << 10 // of the JSON text
	MaxDepth  = 16        // of structs and arrays in a value
	MaxTypes  = 128       // structs
	MaxName   = 128       // bytes of the name of a type or member
	MaxValues = 16_384    // JSON values in all
)

// node is a JSON value and where it starts.
type node struct {
	kind    jsontext.Kind // '{' '[' '"' '0' 't' 'f' 'n'
	at      int           // byte offset
	text    string        // of a string its text, of a number its digits
	members []member      // of an object, in order
	list    []node        // of an array
}

type member struct {
	name string
	at   int
	node node
}

// find returns the member with a name.
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
	open    []node // elements of the arrays that have not ended yet
}

// next returns where the next token starts.
func (d *document) next() int {
	at := int(d.decoder.InputOffset())
	return at + len(d.text[at:]) - len(bytes.TrimLeft(d.text[at:], " \t\r\n,:"))
}

// readDocument reads one JSON value and nothing after it. Duplicate names,
// invalid UTF-8 and unpaired surrogates are refused by the decoder.
func readDocument(text []byte) (node, error) {
	if len(text) > MaxBytes {
		return node{}, malformed("", -1, "%d bytes of JSON, at most %d are read", len(text), MaxBytes)
	}
	d := document{text: text, decoder: jsontext.NewDecoder(bytes.NewReader(text))}
	d.open = make([]node, 0, min(MaxValues, bytes.Count(text, []byte{','})))
	root, err := d.value(0)
	if err != nil {
		return node{}, err
	}
	if _, err := d.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return node{}, malformed("", d.next(), "text after the JSON object")
	}
	return root, nil
}

// maxNesting is the deepest nesting of JSON: that of a value, and of the object
// around it.
const maxNesting = MaxDepth + 4

func (d *document) value(depth int) (n node, err error) {
	if d.values++; d.values > MaxValues {
		return n, malformed("", int(d.decoder.InputOffset()), "more than %d values", MaxValues)
	}
	at := d.next()
	token, err := d.decoder.ReadToken()
	if err != nil {
		return n, d.fail(err)
	}
	n = node{kind: token.Kind(), at: at}
	if depth > maxNesting {
		return n, malformed("", n.at, "nested more than %d levels deep", maxNesting)
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
		at := d.next()
		token, err := d.decoder.ReadToken()
		if err != nil {
			return d.fail(err)
		}
		name := token.String()
		value, err := d.value(depth + 1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, at, value})
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
	n.list = append([]node(nil), d.open[first:]...)
	d.open = d.open[:first]
	_, err := d.decoder.ReadToken()
	return d.fail(err)
}

// fail translates an error of the decoder.
func (d *document) fail(err error) error {
	if err == nil {
		return nil
	}
	at := int(d.decoder.InputOffset())
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return malformed("", int(syntactic.ByteOffset), "not JSON: %v", syntactic.Err)
	}
	return malformed("", at, "not JSON: the text ends early")
}

// malformed builds the error of this package.
func malformed(field string, at int, format string, args ...any) *chains.ParseError {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: at, Problem: fmt.Sprintf(format, args...)}
}
