package descriptors

import (
	"cmp"
	"fmt"
	"math/big"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// maxNested bounds the depth at which calls in calls are read.
const maxNested = 4

// session reads one call by one function of a descriptor.
type session struct {
	*descriptor
	folder *Folder
	call   chains.Call
	depth  int
	root   located         // the arguments, as a structure
	read   map[string]bool // paths of opaque bytes that are calls with a complete reading
	shown  map[string]string
}

// spread replaces lists by their elements.
func spread(values []located) (all []located) {
	for _, value := range values {
		if value.Kind == chains.TypedList {
			all = append(all, spread(value.elements())...)
			continue
		}
		all = append(all, value)
	}
	return all
}

// at returns the values at a path: in the file if it begins with $, in the transaction with
// @, among the arguments with #, otherwise relative to scope.
func (s *session) at(path string, scope located) ([]located, error) {
	switch {
	case path == "":
		return []located{scope}, nil
	case strings.HasPrefix(path, "$."):
		node := lookUp(s.descriptor.root, path)
		if node == nil {
			return nil, fmt.Errorf("%.80q does not exist", path)
		}
		return []located{s.constant(node)}, nil
	case path == "@.from":
		return address(s.call.From), nil
	case path == "@.to":
		return address(s.call.To), nil
	case path == "@.value":
		value := cmp.Or(s.call.Value, new(big.Int))
		return []located{{TypedValue: chains.TypedValue{Kind: chains.TypedNumber, Number: value}}}, nil
	case strings.HasPrefix(path, "@."):
		return nil, fmt.Errorf("%.32q is not a value of a transaction", path)
	case path == "#":
		return []located{s.root}, nil
	case strings.HasPrefix(path, "#."):
		path, scope = path[2:], s.root
	}
	steps, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	return follow(scope, steps)
}

// address returns an account of the call as a value.
func address(party chains.Party) []located {
	return []located{{TypedValue: chains.TypedValue{Kind: chains.TypedAddress, Bytes: last20(party.Address())}}}
}

func last20(address []byte) []byte { return address[max(0, len(address)-20):] }

// position is the position of a value among those that its field shows.
type position struct {
	scope located
	index int
	of    int
}

// constant returns a value that the descriptor itself contains.
func (s *session) constant(node any) located {
	text := fmt.Sprint(node)
	if strings.HasPrefix(text, "$.") {
		if constant := lookUp(s.descriptor.root, text); constant != nil {
			text = fmt.Sprint(constant)
		}
	}
	if raw, err := fixedHex(text, 20); err == nil {
		return located{TypedValue: chains.TypedValue{Kind: chains.TypedAddress, Bytes: raw}}
	}
	return located{TypedValue: chains.TypedValue{Kind: chains.TypedText, Bytes: []byte(text)}}
}

// param returns a text parameter, with a constant resolved.
func (s *session) param(f *field, name string) string {
	text, _ := f.Params[name].(string)
	if strings.HasPrefix(text, "$.") {
		constant := lookUp(s.descriptor.root, text)
		if constant == nil {
			return ""
		}
		return fmt.Sprint(constant)
	}
	return text
}

// pathParam returns the value of a parameter, which is given directly or by its path.
func (s *session) pathParam(f *field, name string, pos position) (value located, ok bool, err error) {
	if text := s.param(f, name); text != "" {
		return s.constant(text), true, nil
	}
	path, _ := f.Params[name+"Path"].(string)
	if path == "" {
		return located{}, false, nil
	}
	values, err := s.at(path, pos.scope)
	if err != nil {
		if values, err = s.at(path, s.root); err != nil {
			return located{}, false, err
		}
	}
	values = spread(values)
	switch {
	case len(values) == pos.of:
		return values[pos.index], true, nil
	case len(values) == 1:
		return values[0], true, nil
	}
	return located{}, false, fmt.Errorf("%sPath leads to %d values, for %d of the field", name, len(values), pos.of)
}
