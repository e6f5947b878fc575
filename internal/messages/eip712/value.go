package eip712

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Value is a value of typed data.
type Value struct {
	// Type is as in EIP-712, such as "address", "Person" or "uint256[]".
	Type string

	Members []Named  // of a struct, in the order of its type
	List    []Value  // of an array
	Bytes   []byte   // of bytes, bytesN and address
	Text    string   // of string
	Int     *big.Int // of intN and uintN
	Bool    bool     // of bool

	of *memberType
}

// Named is a member of a struct with its value.
type Named struct {
	Name  string
	Value Value
}

// Kind returns the kind of the value.
func (v *Value) Kind() Kind {
	if v.of.element != nil {
		return KindArray
	}
	return v.of.kind
}

// Find returns a member of a struct by name.
func (v *Value) Find(name string) (*Value, bool) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value, true
		}
	}
	return nil, false
}

// readStruct reads an object as a value of a struct type, and marks the type as used.
func readStruct(n *node, of *structType, path string) (Value, error) {
	v := Value{Type: of.name, of: &of.itself}
	of.used = true
	if n.kind != '{' {
		return v, malformed(path, n.offset, "expected an object for %s", of.name)
	}
	for i := range n.members {
		if name := n.members[i].name; !of.has(name) {
			return v, malformed(path+"."+shortName(name), n.members[i].offset, "%s has no such member", of.name)
		}
	}
	v.Members = make([]Named, 0, len(of.members))
	for i := range of.members {
		m := &of.members[i]
		memberPath := path + "." + m.name
		child, ok := n.find(m.name)
		if !ok {
			return v, malformed(memberPath, n.offset, "missing")
		}
		value, err := readArrays(child, &m.of, m.spec, memberPath)
		if err != nil {
			return v, err
		}
		v.Members = append(v.Members, Named{m.name, value})
	}
	return v, nil
}

func (s *structType) has(name string) bool {
	for i := range s.members {
		if s.members[i].name == name {
			return true
		}
	}
	return false
}

// readArrays reads a value of any type. Of its arrays it unwraps the outermost first.
func readArrays(n *node, of *memberType, spec, path string) (Value, error) {
	if of.element == nil {
		return readPlain(n, of, spec, path)
	}
	v := Value{Type: spec, of: of}
	if n.kind != '[' {
		return v, malformed(path, n.offset, "expected an array for %s", spec)
	}
	if of.length >= 0 && len(n.list) != of.length {
		return v, malformed(path, n.offset, "%d elements: %s has %d", len(n.list), spec, of.length)
	}
	inner := spec[:strings.LastIndexByte(spec, '[')]
	v.List = make([]Value, 0, len(n.list))
	for i := range n.list {
		element, err := readArrays(&n.list[i], of.element, inner, path+"["+strconv.Itoa(i)+"]")
		if err != nil {
			return v, err
		}
		v.List = append(v.List, element)
	}
	return v, nil
}

// readPlain reads a value of a struct type or a built-in type.
func readPlain(n *node, of *memberType, spec, path string) (Value, error) {
	if of.kind == KindStruct {
		return readStruct(n, of.fields, path)
	}
	v := Value{Type: spec, of: of}
	switch of.kind {
	case KindBool:
		v.Bool = n.kind == 't'
		return v, expect(n, path, "true or false", 't', 'f')
	case KindString:
		v.Text = n.text
		return v, expect(n, path, "text", '"')
	case KindUint, KindInt:
		return v, v.readInteger(n, path)
	}
	return v, v.readBytes(n, path)
}

func expect(n *node, path, what string, kinds ...jsontext.Kind) error {
	if slices.Contains(kinds, n.kind) {
		return nil
	}
	return malformed(path, n.offset, "expected %s", what)
}

// readBytes reads bytes, bytesN and address, an address in the notation of its chain.
func (v *Value) readBytes(n *node, path string) error {
	if n.kind != '"' {
		return malformed(path, n.offset, "expected text of 0x and hex digits for %s", v.Type)
	}
	if v.of.kind == KindAddress {
		address, err := v.of.by.address(n, path)
		v.Bytes = address
		return err
	}
	digits, ok := strings.CutPrefix(n.text, "0x")
	raw, err := hex.DecodeString(digits)
	switch {
	case !ok:
		return malformed(path, n.offset, "%s must begin with 0x", v.Type)
	case len(digits)%2 != 0:
		return malformed(path, n.offset, "odd number of hex digits")
	case err != nil:
		return malformed(path, n.offset, "%s has a character that is not a hex digit", v.Type)
	}
	v.Bytes = raw
	if v.of.kind == KindFixedBytes && len(raw) != v.of.size {
		return malformed(path, n.offset, "%d bytes: %s has %d", len(raw), v.Type, v.of.size)
	}
	return nil
}

// maxExact is the largest integer that all JSON readers represent exactly.
const maxExact = 1<<53 - 1

// readInteger reads intN and uintN: a JSON integer, or text with a decimal or hex
// number.
func (v *Value) readInteger(n *node, path string) error {
	if n.kind != '0' && n.kind != '"' {
		return malformed(path, n.offset, "expected an integer for %s", v.Type)
	}
	value, ok := parseInteger(n.text, n.kind == '"')
	switch {
	case !ok && n.kind == '0':
		return malformed(path, n.offset, "%s: expected an integer without fraction, exponent or leading zeros", quoted(n.text))
	case !ok:
		return malformed(path, n.offset, "%s: expected decimal digits without leading zeros, or 0x and hex digits", quoted(n.text))
	case n.kind == '0' && value.CmpAbs(big.NewInt(maxExact)) > 0:
		return malformed(path, n.offset, "%s is over 2^53−1, where JSON readers differ: write it as text", value)
	case !v.of.inRange(value):
		return malformed(path, n.offset, "%s is out of range for %s", quoted(n.text), v.Type)
	}
	v.Int = value
	return nil
}

// maxDigits bounds an integer: enough for 256 bits, in decimal or in hex with leading
// zeros.
const maxDigits = 80

func parseInteger(text string, allowHex bool) (*big.Int, bool) {
	if len(text) > maxDigits {
		return nil, false
	}
	if digits, ok := strings.CutPrefix(text, "0x"); ok && allowHex {
		if digits == "" || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
			return nil, false
		}
		return new(big.Int).SetString(digits, 16)
	}
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || digits[0] == '0' && text != "0" {
		return nil, false
	}
	if small, err := strconv.ParseUint(text, 10, 64); err == nil {
		return new(big.Int).SetUint64(small), true
	}
	return new(big.Int).SetString(text, 10)
}

func (m *memberType) inRange(value *big.Int) bool {
	if m.kind == KindUint {
		return value.Sign() >= 0 && value.BitLen() <= m.size
	}
	if value.BitLen() < m.size {
		return true
	}
	limit := new(big.Int).Lsh(big.NewInt(1), uint(m.size-1))
	return value.Cmp(limit) < 0 && value.Cmp(limit.Neg(limit)) >= 0
}

// shortName returns a name of the input for an error, quoted unless it is an identifier.
func shortName(name string) string {
	if isIdentifier(name) {
		return name
	}
	return quoted(name)
}
