package descriptors

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains/internal/evm"
)

// found is a value that a path leads to.
type found struct {
	evm.Argument
	at string // its path among the arguments, such as "legs.0.to"; empty if it is none, or a part of one
}

// maxFound bounds how many values a path may lead to.
const maxFound = 256

// step is one part of a path: a name, an index, a slice, or all elements.
type step struct {
	name       string
	index      bool // of the element from
	slice      bool // [from:to]
	all        bool // []
	from, to   int
	open       bool // a slice without an end
	fromTheEnd bool // from counts from the end
}

// parsePath reads "legs.[0].to", "path.[-20:]", "tos.[]".
func parsePath(text string) ([]step, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > 256 {
		return nil, fmt.Errorf("path of %d bytes", len(text))
	}
	parts := strings.Split(text, ".")
	steps := make([]step, len(parts))
	for i, part := range parts {
		inner, bracket := strings.CutPrefix(part, "[")
		if !bracket {
			steps[i] = step{name: part}
			continue
		}
		inner, closed := strings.CutSuffix(inner, "]")
		s, err := parseIndex(inner)
		if err != nil || !closed {
			return nil, fmt.Errorf("path %.64q: %q is no index", text, part)
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

// follow returns what steps lead to from a value.
func follow(from found, steps []step) ([]found, error) {
	current := []found{from}
	for _, s := range steps {
		var next []found
		for _, value := range current {
			values, err := s.of(value)
			if err != nil {
				return nil, err
			}
			if next = append(next, values...); len(next) > maxFound {
				return nil, fmt.Errorf("a path to more than %d values", maxFound)
			}
		}
		current = next
	}
	return current, nil
}

// of returns what a step leads to from a value.
func (s step) of(value found) ([]found, error) {
	switch {
	case s.name != "":
		return value.member(s.name)
	case s.all:
		return value.all()
	}
	length := len(value.Bytes)
	if value.Kind == evm.ArgumentList {
		length = len(value.List)
	}
	from, to := s.bounds(length)
	if from < 0 || to > length || from > to || s.index && from == to {
		return nil, fmt.Errorf("a path beyond %d", length)
	}
	switch {
	case value.Kind == evm.ArgumentList && s.index:
		return []found{value.element(from)}, nil
	case value.Kind == evm.ArgumentList:
		var part []found
		for i := from; i < to; i++ {
			part = append(part, value.element(i))
		}
		return part, nil
	case value.Kind == evm.ArgumentStruct:
		return nil, fmt.Errorf("a path with an index into a structure")
	}
	return []found{{Argument: evm.Argument{Kind: evm.ArgumentBytes, Bytes: value.Bytes[from:to]}}}, nil
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

func (f found) member(name string) ([]found, error) {
	if f.Kind == evm.ArgumentStruct {
		for i := range f.List {
			if f.List[i].Name == name {
				return []found{f.element(i)}, nil
			}
		}
	}
	if f.Kind == evm.ArgumentList { // the registry leaves [] out where a list is meant
		var all []found
		for i := range f.List {
			members, err := f.element(i).member(name)
			if err != nil {
				return nil, err
			}
			all = append(all, members...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("no argument %.64q", name)
}

func (f found) all() ([]found, error) {
	if f.Kind != evm.ArgumentList {
		return nil, fmt.Errorf("a path to all elements of what is no list")
	}
	return f.elements(), nil
}

func (f found) elements() []found {
	elements := make([]found, len(f.List))
	for i := range f.List {
		elements[i] = f.element(i)
	}
	return elements
}

func (f found) element(i int) found {
	at := f.List[i].Name
	if f.Kind == evm.ArgumentList {
		at = strconv.Itoa(i)
	}
	if f.at != "" {
		at = f.at + "." + at
	}
	return found{f.List[i], at}
}
