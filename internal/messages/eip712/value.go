package eip712

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// readStruct reads an object as a value of a struct type, and marks the type as used.
func readStruct(n *node, of *structType) (chains.TypedValue, error) {
	v := chains.TypedValue{Type: of.name, Kind: chains.TypedStruct}
	of.used = true
	if n.kind != '{' {
		return v, malformed("", n.offset, "expected an object for %s", of.name)
	}
	for child := n.first; child != nil; child = child.next {
		if !of.has(child.name) {
			return v, malformed("."+shortName(child.name), child.nameOffset, "%s has no such member", of.name)
		}
	}
	v.List = make([]chains.TypedValue, len(of.members))
	for i := range of.members {
		m := &of.members[i]
		child, ok := n.find(m.name)
		if !ok {
			return v, malformed("."+m.name, n.offset, "missing")
		}
		if err := read(&v.List[i], child, &m.of, m.spec); err != nil {
			return v, within(err, "."+m.name)
		}
		v.List[i].Name = m.name
	}
	return v, nil
}

func (s *structType) has(name string) bool {
	return slices.ContainsFunc(s.members, func(m typedMember) bool { return m.name == name })
}

// read reads a value of any type. Of its arrays it unwraps the outermost first.
func read(v *chains.TypedValue, n *node, of *memberType, spec string) error {
	if of.element == nil {
		return readPlain(v, n, of, spec)
	}
	v.Type, v.Kind = spec, chains.TypedList
	if n.kind != '[' {
		return malformed("", n.offset, "expected an array for %s", spec)
	}
	if of.length >= 0 && n.count != of.length {
		return malformed("", n.offset, "%d elements: %s has %d", n.count, spec, of.length)
	}
	inner := spec[:strings.LastIndexByte(spec, '[')]
	v.List = make([]chains.TypedValue, n.count)
	child := n.first
	for i := range v.List {
		if err := read(&v.List[i], child, of.element, inner); err != nil {
			return within(err, element(i))
		}
		child = child.next
	}
	return nil
}

func readPlain(v *chains.TypedValue, n *node, of *memberType, spec string) (err error) {
	v.Type, v.Kind = spec, of.kind
	switch of.kind {
	case chains.TypedStruct:
		*v, err = readStruct(n, of.fields)
		return err
	case chains.TypedBool:
		v.Number = new(big.Int)
		if n.kind == 't' {
			v.Number.SetInt64(1)
		}
		return expect(n, "true or false", 't', 'f')
	case chains.TypedText:
		v.Bytes = []byte(n.text)
		return expect(n, "text", '"')
	case chains.TypedNumber:
		v.Number, err = readInteger(n, of, spec)
		return err
	}
	v.Bytes, err = readBytes(n, of, spec)
	return err
}

func expect(n *node, what string, kinds ...jsontext.Kind) error {
	if slices.Contains(kinds, n.kind) {
		return nil
	}
	return malformed("", n.offset, "expected %s", what)
}

// readBytes reads bytes, bytesN and address, an address in the notation of its chain.
func readBytes(n *node, of *memberType, spec string) ([]byte, error) {
	if n.kind != '"' {
		return nil, malformed("", n.offset, "expected text of 0x and hex digits for %s", spec)
	}
	if of.kind == chains.TypedAddress {
		return of.by.address(n)
	}
	digits, ok := strings.CutPrefix(n.text, "0x")
	raw, err := hex.DecodeString(digits)
	switch {
	case !ok:
		return nil, malformed("", n.offset, "%s must begin with 0x", spec)
	case len(digits)%2 != 0:
		return nil, malformed("", n.offset, "odd number of hex digits")
	case err != nil:
		return nil, malformed("", n.offset, "%s has a character that is not a hex digit", spec)
	case of.kind == chains.TypedFixedBytes && len(raw) != of.size:
		return nil, malformed("", n.offset, "%d bytes: %s has %d", len(raw), spec, of.size)
	}
	return raw, nil
}

// maxExact is the largest integer that all JSON readers represent exactly.
const maxExact = 1<<53 - 1

// readInteger reads intN and uintN: a JSON integer, or text with a decimal or hex number.
func readInteger(n *node, of *memberType, spec string) (*big.Int, error) {
	if n.kind != '0' && n.kind != '"' {
		return nil, malformed("", n.offset, "expected an integer for %s", spec)
	}
	value, ok := parseInteger(n.text, n.kind == '"')
	switch {
	case !ok && n.kind == '0':
		return nil, malformed("", n.offset,
			"%s: expected an integer without fraction, exponent or leading zeros", quoted(n.text))
	case !ok:
		return nil, malformed("", n.offset,
			"%s: expected decimal digits without leading zeros, or 0x and hex digits", quoted(n.text))
	case n.kind == '0' && value.CmpAbs(big.NewInt(maxExact)) > 0:
		return nil, malformed("", n.offset, "%s is over 2^53−1, where JSON readers differ: write it as text", value)
	case !of.inRange(value):
		return nil, malformed("", n.offset, "%s is out of range for %s", quoted(n.text), spec)
	}
	return value, nil
}

// maxDigits bounds an integer: enough for 256 bits, in decimal or in hex with leading zeros.
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
	if len(text) <= maxWord {
		if small, err := strconv.ParseUint(text, 10, 64); err == nil {
			var word [8]byte
			binary.BigEndian.PutUint64(word[:], small)
			return rlp.Big(word[:]), true // with its words in one allocation
		}
	}
	return new(big.Int).SetString(text, 10)
}

// maxWord is the length of the longest decimal number of 64 bits.
const maxWord = 20

func (m *memberType) inRange(value *big.Int) bool {
	if !m.signed {
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
	if evm.IsIdentifier(name) {
		return name
	}
	return quoted(name)
}
