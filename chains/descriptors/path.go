package descriptors

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// located is a value at a path.
type located struct {
	chains.TypedValue
	path string // among the arguments, such as "legs.0.to"; empty if it is not an argument, or only a part of one
}

// bytes returns the content of bytes and texts, the 20 bytes of an address, and the two's complement
// of a number or a bool in 256 bits.
func (l located) bytes() []byte {
	if l.Number == nil {
		return l.Bytes
	}
	number := l.Number
	if number.Sign() < 0 {
		number = new(big.Int).Add(number, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return number.FillBytes(make([]byte, 32))
}

// maxLocated bounds the number of values at a path.
const maxLocated = 256

// step is one part of a path: a name, an index, a slice, or all elements.
type step struct {
	name       string
	index      bool // of the element from
	slice      bool // [from:to]
	all        bool // []
	from, to   int
	open       bool // a slice without an end
	fromTheEnd bool // from is relative to the end
}

// parsePath parses paths such as "legs.[0].to", "path.[-20:]" and "tos.[]".
func parsePath(text string) ([]step, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > 256 {
		return nil, fmt.Errorf("path of %d bytes", len(text))
	}
	parts := strings.Split(text, ".")
	steps := make([]step, len(parts))
	for i, element := range parts {
		inner, bracket := strings.CutPrefix(element, "[")
		if !bracket {
			steps[i] = step{name: element}
			continue
		}
		inner, closed := strings.CutSuffix(inner, "]")
		s, err := parseIndex(inner)
		if err != nil || !closed {
			return nil, fmt.Errorf("path %.64q: %q is not an index", text, element)
		}
		steps[i] = s
	}
	return steps, nil
}

func parseIndex(text string) (s step, err error) {
	if text == "" {
		return step{all: true}, nil
	}
	from, to, isSlice := strings.Cut(text, ":")
	if s.fromTheEnd = strings.HasPrefix(from, "-"); from != "" {
		if s.from, err = strconv.Atoi(from); err != nil {
			return s, err
		}
	}
	if s.slice, s.index = isSlice, !isSlice; isSlice {
		if s.open = to == ""; !s.open {
			s.to, err = strconv.Atoi(to)
		}
	}
	return s, err
}

// follow returns the values that steps lead to from a value.
func follow(from located, steps []step) ([]located, error) {
	current := []located{from}
	for _, s := range steps {
		var next []located
		for _, value := range current {
			values, err := s.of(value)
			if err != nil {
				return nil, err
			}
			if next = append(next, values...); len(next) > maxLocated {
				return nil, fmt.Errorf("the path leads to more than %d values", maxLocated)
			}
		}
		current = next
	}
	return current, nil
}

func (s step) of(value located) ([]located, error) {
	switch {
	case s.name != "":
		return value.member(s.name)
	case s.all:
		if value.Kind != chains.TypedList {
			return nil, errors.New("the path leads to all elements of a value that is not a list")
		}
		return value.elements(), nil
	}
	length := len(value.bytes())
	if value.Kind == chains.TypedList {
		length = len(value.List)
	}
	from, to := s.bounds(length)
	if from < 0 || to > length || from > to || s.index && from == to {
		return nil, fmt.Errorf("the path leads beyond %d elements", length)
	}
	switch {
	case value.Kind == chains.TypedList && s.index:
		return []located{value.element(from)}, nil
	case value.Kind == chains.TypedList:
		var values []located
		for i := from; i < to; i++ {
			values = append(values, value.element(i))
		}
		return values, nil
	case value.Kind == chains.TypedStruct:
		return nil, errors.New("the path has an index into a structure")
	}
	return []located{{TypedValue: chains.TypedValue{Kind: chains.TypedFixedBytes, Bytes: value.bytes()[from:to]}}}, nil
}

func (s step) bounds(length int) (from, to int) {
	from, to = s.from, s.to
	if s.fromTheEnd {
		from += length
	}
	switch {
	case s.index:
		to = from + 1
	case s.open:
		to = length
	case s.to < 0:
		to += length
	}
	return from, to
}

func (l located) member(name string) ([]located, error) {
	if value, ok := l.Member(name); ok {
		return []located{{*value, joined(l.path, name)}}, nil
	}
	if l.Kind == chains.TypedList { // the registry leaves [] out
		var all []located
		for i := range l.List {
			members, err := l.element(i).member(name)
			if err != nil {
				return nil, err
			}
			all = append(all, members...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("no argument %.64q", name)
}

func (l located) elements() []located {
	elements := make([]located, len(l.List))
	for i := range l.List {
		elements[i] = l.element(i)
	}
	return elements
}

func (l located) element(i int) located {
	name := l.List[i].Name
	if l.Kind == chains.TypedList {
		name = strconv.Itoa(i)
	}
	return located{l.List[i], joined(l.path, name)}
}
