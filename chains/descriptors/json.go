package descriptors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of a file.
const (
	MaxFileBytes = 1 << 20
	maxDepth     = 32
	maxNodes     = 100_000
)

// object is a JSON object; lists are []any, numbers json.Number.
type object = map[string]any

// parse reads a JSON object strictly: no member twice, no text behind it, UTF-8,
// numbers that are integers up to 2^53, which every reader reads alike.
func parse(file []byte) (object, error) {
	switch {
	case len(file) > MaxFileBytes:
		return nil, fmt.Errorf("file of %d bytes: at most %d are read", len(file), MaxFileBytes)
	case !utf8.Valid(file):
		return nil, errors.New("not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.UseNumber()
	p := treeParser{decoder: decoder, left: maxNodes}
	node, err := p.node(0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text behind the JSON object")
	}
	root, ok := node.(object)
	if !ok {
		return nil, errors.New("a JSON object is expected")
	}
	return root, nil
}

type treeParser struct {
	decoder *json.Decoder
	left    int // nodes that may still be read
}

func (p *treeParser) node(depth int) (any, error) {
	if p.left--; p.left < 0 || depth > maxDepth {
		return nil, fmt.Errorf("more than %d values, or deeper than %d", maxNodes, maxDepth)
	}
	token, err := p.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return p.object(depth)
		}
		return p.list(depth)
	case json.Number:
		return token, checkNumber(token)
	}
	return token, nil
}

func checkNumber(number json.Number) error {
	integer, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || integer > 1<<53 || integer < -1<<53 || strconv.FormatInt(integer, 10) != string(number) {
		return fmt.Errorf("number %.40s: an integer of at most 2^53 is expected", string(number))
	}
	return nil
}

func (p *treeParser) object(depth int) (any, error) {
	members := object{}
	for p.decoder.More() {
		name, err := p.decoder.Token()
		if err != nil {
			return nil, err
		}
		text, ok := name.(string)
		if _, twice := members[text]; !ok || twice {
			return nil, fmt.Errorf("member %.64q appears twice", text)
		}
		if members[text], err = p.node(depth + 1); err != nil {
			return nil, err
		}
	}
	_, err := p.decoder.Token()
	return members, err
}

func (p *treeParser) list(depth int) (any, error) {
	list := []any{}
	for p.decoder.More() {
		node, err := p.node(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, node)
	}
	_, err := p.decoder.Token()
	return list, err
}

// canonical appends the canonical form of RFC 8785 (JCS): members ordered by the
// UTF-16 of their names, no white space, the shortest escapes.
func canonical(dst []byte, node any) []byte {
	switch node := node.(type) {
	case object:
		dst = append(dst, '{')
		for i, name := range sortedNames(node) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, name), ':')
			dst = canonical(dst, node[name])
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, element := range node {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = canonical(dst, element)
		}
		return append(dst, ']')
	case string:
		return appendString(dst, node)
	case json.Number:
		return append(dst, node...)
	case bool:
		return strconv.AppendBool(dst, node)
	}
	return append(dst, "null"...)
}

func sortedNames(members object) []string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
	return names
}

func appendString(dst []byte, text string) []byte {
	const escapes = "btn?fr" // of the characters 8 to 13
	dst = append(dst, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= 8 && r <= 13 && r != 11:
			dst = append(dst, '\\', escapes[r-8])
		case r < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// into reads a part of a file into a struct that names every member it may have.
func into(node, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(canonical(nil, node)))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	return decoder.Decode(target)
}

// bigOf reads an integer, decimal or in hex with 0x in front.
func bigOf(text string) (*big.Int, bool) {
	if len(text) > 80 {
		return nil, false
	}
	return new(big.Int).SetString(text, 0)
}
