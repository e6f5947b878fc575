package evm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
)

// Bounds of a function that an untrusted text describes.
const (
	maxFragment      = 8 << 10 // bytes
	maxFragmentDepth = 8       // tuples and arrays in one another
	maxFragmentTypes = 512     // types in all
	maxFragmentHead  = 16 << 10
)

// Function is a function of a contract described by an untrusted text, such as a
// descriptor or a contract's ABI.
type Function struct {
	Signature  string // as the selector is computed from it
	Selector   [4]byte
	parameters []abiType
}

// ParseFunction parses a function's human-readable fragment, with or without the names
// of parameters:
//
//	swap((address token, uint256 amount)[] legs,address to)
//
// uint and int mean 256 bits. Commas may be surrounded by spaces: ERC-7730 forbids
// them, but most of its registry has them.
func ParseFunction(fragment string) (*Function, error) {
	if len(fragment) > maxFragment {
		return nil, fmt.Errorf("function of %d bytes: at most %d are read", len(fragment), maxFragment)
	}
	name, rest, ok := strings.Cut(fragment, "(")
	if !ok || !IsIdentifier(name) {
		return nil, errors.New("function: expected a name and its parameters in parentheses")
	}
	p := fragmentParser{text: rest}
	parameters, err := p.types(1)
	if err == nil && strings.TrimSpace(p.text) != "" {
		err = errors.New("text after the parameters")
	}
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", name, err)
	}
	f := &Function{Signature: name + "(" + typeList(parameters) + ")", parameters: parameters}
	copy(f.Selector[:], crypto.Keccak256([]byte(f.Signature)))
	return f, nil
}

// IsIdentifier reports whether a name is a Solidity identifier of at most 128 bytes.
func IsIdentifier(name string) bool {
	return name != "" && len(name) <= 128 &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") == "" &&
		(name[0] < '0' || name[0] > '9')
}

// fragmentParser reads a text from its start.
type fragmentParser struct {
	text  string
	count int
	roles bool // of our own tables: types may have roles, and names may have spaces
}

// parseTypes parses parameters in a table of our own, up to and including their closing
// parenthesis. It panics if they are malformed.
func parseTypes(text string) []abiType {
	p := fragmentParser{text: text, roles: true}
	types, err := p.types(1)
	if err != nil {
		panic("evm: " + text + ": " + err.Error())
	}
	return types
}

// types reads parameters up to and including their closing parenthesis.
func (p *fragmentParser) types(depth int) (types []abiType, err error) {
	if depth > maxFragmentDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxFragmentDepth)
	}
	p.space()
	if p.skip(")") {
		return nil, nil
	}
	for {
		t, err := p.parameter(depth)
		if err != nil {
			return nil, err
		}
		if t.name != "" && slices.ContainsFunc(types, func(before abiType) bool { return before.name == t.name }) {
			return nil, fmt.Errorf("two parameters are named %s: a name would mean either", cutText(t.name))
		}
		types = append(types, t)
		p.space()
		switch {
		case p.skip(")"):
			if size := heads(types); size > maxFragmentHead {
				return nil, fmt.Errorf("parameters of %d bytes: at most %d are read", size, maxFragmentHead)
			}
			return types, nil
		case !p.skip(","):
			return nil, errors.New("expected a comma or a closing parenthesis")
		}
	}
}

func (p *fragmentParser) parameter(depth int) (t abiType, err error) {
	p.space()
	if p.count++; p.count > maxFragmentTypes {
		return t, fmt.Errorf("more than %d types", maxFragmentTypes)
	}
	if p.skip("(") {
		t.kind = kindTuple
		if t.members, err = p.types(depth + 1); err == nil && len(t.members) == 0 {
			err = errors.New("a tuple without members")
		}
	} else {
		t, err = elementaryType(p.until(wordEnds))
	}
	if err != nil {
		return t, err
	}
	if t, err = p.arrays(t, depth); err != nil {
		return t, err
	}
	if p.roles {
		if p.skip(":") {
			t.setRole(role(p.until("[], )(")))
		}
		p.skip(" ")
		t.name = p.until(",)")
		return t, nil
	}
	p.space()
	t.name = p.until(wordEnds)
	if t.name != "" && !IsIdentifier(t.name) {
		return t, errors.New("a parameter whose name is no identifier")
	}
	return t, nil
}

func (p *fragmentParser) arrays(t abiType, depth int) (abiType, error) {
	for p.skip("[") {
		digits, rest, ok := strings.Cut(p.text, "]")
		length := -1
		if digits != "" {
			number, err := strconv.Atoi(digits)
			if err != nil || number < 1 || number > maxFragmentHead/word || digits[0] == '0' || digits[0] == '+' {
				return t, errors.New("an array whose length is not from 1 to 512")
			}
			length = number
		}
		if depth++; !ok || depth > maxFragmentDepth {
			return t, errors.New("an array that is not closed, or nested too deep")
		}
		t, p.text = abiType{kind: kindArray, size: length, members: []abiType{t}}, rest
		if t.head() > maxFragmentHead {
			return t, errors.New("an array that is too long")
		}
	}
	return t, nil
}

func (p *fragmentParser) space() { p.text = strings.TrimLeft(p.text, " ") }

func (p *fragmentParser) skip(prefix string) (found bool) {
	p.text, found = strings.CutPrefix(p.text, prefix)
	return found
}

// wordEnds are what ends a type or a name.
const wordEnds = "[], )(:"

func (p *fragmentParser) until(ends string) string {
	end := strings.IndexAny(p.text, ends)
	if end < 0 {
		end = len(p.text)
	}
	word := p.text[:end]
	p.text = p.text[end:]
	return word
}

// elementaryTypes are those without a number of bits or bytes in their names.
var elementaryTypes = map[string]abiType{
	"address": {kind: kindAddress, size: 20},
	"bool":    {kind: kindBool, size: 1},
	"string":  {kind: kindString},
	"bytes":   {kind: kindBytes},
	"uint":    {kind: kindUint, size: word},
	"int":     {kind: kindInt, size: word},
}

// elementaryType parses the name of a type that is neither an array nor a tuple.
func elementaryType(name string) (abiType, error) {
	if t, ok := elementaryTypes[name]; ok {
		return t, nil
	}
	digits := strings.TrimLeft(name, "uintbyes")
	size, err := strconv.Atoi(digits)
	ok := err == nil && digits[0] >= '1' && digits[0] <= '9'
	switch t := elementaryTypes[strings.TrimSuffix(name, digits)]; {
	case ok && t.kind == kindBytes && size <= word:
		return abiType{kind: kindFixed, size: size}, nil
	case ok && (t.kind == kindInt || t.kind == kindUint && t.size == word) && size%8 == 0 && size <= 8*word:
		return abiType{kind: t.kind, size: size / 8}, nil
	}
	return abiType{}, fmt.Errorf("%q is no type of the contract ABI", cutText(name))
}

func cutText(text string) string { return text[:min(len(text), 32)] }
