package eip712

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// domainType is the struct of the domain.
const domainType = "EIP712Domain"

// structType is one of the types of typed data.
type structType struct {
	name    string
	offset  int // in the JSON text
	members []typedMember
	used    bool       // by the domain or the message
	height  int        // levels of structs and arrays, itself included; 0 before measure, −1 during it
	encoded string     // encodeType, once written
	hash    [32]byte   // typeHash, once encoded
	itself  memberType // the type of its values
}

func newStructType(name string, offset int) *structType {
	s := &structType{name: name, offset: offset}
	s.itself.kind, s.itself.fields = chains.TypedStruct, s
	return s
}

type typedMember struct {
	name string
	spec string // the type as written, such as "address", "Person" or "uint256[2][]"
	of   memberType
}

// memberType is a parsed type.
type memberType struct {
	kind    chains.TypedKind // for an array, the kind of its innermost elements
	signed  bool             // intN
	by      *notation        // of an address
	size    int              // bytesN: N; intN, uintN: bits
	fields  *structType      // of a struct
	element *memberType      // of an array; nil for other types
	length  int              // of an array; −1 for any
}

// inArrays wraps the type in arrays of the given lengths, innermost first.
func (m memberType) inArrays(lengths []int) memberType {
	for _, length := range lengths {
		element := m
		m.element, m.length = &element, length
	}
	return m
}

// domainMembers are the types of the members that a domain may have, EIP-712's first. The
// others are what wallets of Cosmos chains (Ethermint) send: they name no contract.
var domainMembers = map[string][]string{
	"name": {"string"}, "version": {"string"}, "chainId": {"uint256"},
	"verifyingContract": {"address", "string"}, "salt": {"bytes32", "string"},
}

// typeTable has the types of typed data.
type typeTable struct {
	structs  map[string]*structType // by name
	notation *notation
}

func readTypes(n *node, by *notation) (table typeTable, err error) {
	if n.kind != '{' {
		return table, malformed("types", n.offset, "expected an object of types by name")
	}
	if n.count > MaxTypes {
		return table, malformed("types", n.offset, "%d types: at most %d are supported", n.count, MaxTypes)
	}
	table = typeTable{make(map[string]*structType, n.count), by}
	for m := n.first; m != nil; m = m.next {
		if err := table.checkName(m.name, m.nameOffset); err != nil {
			return table, err
		}
		table.structs[m.name] = newStructType(m.name, m.nameOffset)
	}
	for m := n.first; m != nil; m = m.next {
		if err := table.readMembers(table.structs[m.name], m); err != nil {
			return table, within(err, "types."+m.name)
		}
	}
	for m := n.first; m != nil; m = m.next {
		if err := table.structs[m.name].measure(); err != nil {
			return table, err
		}
	}
	return table, table.checkDomain()
}

func (t typeTable) checkName(name string, offset int) error {
	if !evm.IsIdentifier(strings.ReplaceAll(name, ":", "_")) {
		return malformed("types."+quoted(name), offset,
			"the name of a type must consist of letters, digits, _, $ and :, and not begin with a digit")
	}
	if _, ok := t.notation.elementary(name); ok || name == "int" || name == "uint" {
		return malformed("types."+quoted(name), offset, "this is the name of a built-in type")
	}
	return nil
}

func (t typeTable) readMembers(into *structType, n *node) error {
	if n.kind != '[' {
		return malformed("", n.offset, "expected a list of members")
	}
	into.members = make([]typedMember, 0, n.count)
	for child := n.first; child != nil; child = child.next {
		if err := t.readMember(into, child); err != nil {
			return within(err, element(len(into.members)))
		}
	}
	return nil
}

// readMember reads a member of a struct, {"name":…,"type":…}.
func (t typeTable) readMember(into *structType, n *node) error {
	nameNode, hasName := n.find("name")
	typeNode, hasType := n.find("type")
	if n.kind != '{' || !hasName || !hasType || n.count != 2 || nameNode.kind != '"' || typeNode.kind != '"' {
		return malformed("", n.offset, `expected an object with exactly the strings "name" and "type"`)
	}
	name, spec := nameNode.text, typeNode.text
	if !evm.IsIdentifier(name) {
		return malformed("", nameNode.offset,
			"the name of a member must consist of letters, digits, _ and $, and not begin with a digit")
	}
	if into.has(name) {
		return malformed("", n.offset, "duplicate member %q", name)
	}
	of, err := t.resolve(spec, n.offset)
	if err != nil {
		return err
	}
	into.members = append(into.members, typedMember{name, spec, of})
	return nil
}

func (t typeTable) resolve(spec string, offset int) (memberType, error) {
	base, suffix := spec, ""
	if bracket := strings.IndexByte(spec, '['); bracket >= 0 {
		base, suffix = spec[:bracket], spec[bracket:]
	}
	arrays, ok := arraysOf(suffix)
	if !ok || len(arrays) > MaxDepth {
		return memberType{}, malformed("", offset,
			"type %s: only [] or [n], at most %d of them, may follow the name", quoted(spec), MaxDepth)
	}
	if base == "int" || base == "uint" {
		return memberType{}, malformed("", offset, "type %s: write %s256 instead", base, base)
	}
	if of, ok := t.notation.elementary(base); ok {
		return of.inArrays(arrays), nil
	}
	fields, ok := t.structs[base]
	if !ok || base == domainType {
		return memberType{}, malformed("", offset, "type %s is not one of the types%s", quoted(base), ofOther(base))
	}
	return fields.itself.inArrays(arrays), nil
}

// arraysOf parses a suffix such as "[2][]" to the lengths from left to right.
func arraysOf(suffix string) (lengths []int, ok bool) {
	for suffix != "" {
		end := strings.IndexByte(suffix, ']')
		if suffix[0] != '[' || end < 0 {
			return nil, false
		}
		length := -1
		if digits := suffix[1:end]; digits != "" {
			n, err := strconv.Atoi(digits)
			if err != nil || n < 1 || n > MaxValues || strconv.Itoa(n) != digits {
				return nil, false
			}
			length = n
		}
		lengths, suffix = append(lengths, length), suffix[end+1:]
	}
	return lengths, true
}

// unsized are the built-in types without a size in their names.
var unsized = map[string]chains.TypedKind{"bool": chains.TypedBool, "string": chains.TypedText,
	"address": chains.TypedAddress, "bytes": chains.TypedBytes}

func elementary(name string) (memberType, bool) {
	if kind, ok := unsized[name]; ok {
		return memberType{kind: kind}, true
	}
	if size, ok := sized(name, "bytes", 32); ok {
		return memberType{kind: chains.TypedFixedBytes, size: size}, true
	}
	if size, ok := sized(name, "uint", 256); ok && size%8 == 0 {
		return memberType{kind: chains.TypedNumber, size: size}, true
	}
	if size, ok := sized(name, "int", 256); ok && size%8 == 0 {
		return memberType{kind: chains.TypedNumber, signed: true, size: size}, true
	}
	return memberType{}, false
}

// sized parses a prefix and a size from 1 to most, without leading zeros.
func sized(name, prefix string, most int) (size int, ok bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || len(digits) > 3 || strings.Trim(digits, "0123456789") != "" || strings.HasPrefix(digits, "0") {
		return 0, false
	}
	size, err := strconv.Atoi(digits)
	return size, err == nil && size <= most
}

// measure computes the height of a struct. It refuses one that contains itself, also
// through arrays, and one that is nested too deeply. It visits each type once.
func (s *structType) measure() error {
	if s.height != 0 {
		if s.height < 0 {
			return malformed("types."+s.name, s.offset, "the type contains itself")
		}
		return nil
	}
	s.height = -1
	height := 0
	for i := range s.members {
		of := &s.members[i].of
		levels := 0
		for inner := of; inner.element != nil; inner = inner.element {
			levels++
		}
		if of.fields != nil {
			if err := of.fields.measure(); err != nil {
				return err
			}
			levels += of.fields.height
		}
		height = max(height, levels)
	}
	if s.height = height + 1; s.height > MaxDepth {
		return malformed("types."+s.name, s.offset,
			"values of the type are nested %d levels deep: at most %d are supported", s.height, MaxDepth)
	}
	return nil
}

// checkDomain checks that there is an EIP712Domain, and that it has only standard members.
func (t typeTable) checkDomain() error {
	domain, ok := t.structs[domainType]
	if !ok {
		return malformed("types", -1,
			`EIP712Domain is missing: add the domain's members to "types", such as {"name":"name","type":"string"}`)
	}
	for _, m := range domain.members {
		if !slices.Contains(domainMembers[m.name], m.spec) {
			return malformed("types.EIP712Domain", domain.offset,
				"%s %s is not a member of a domain: expected name and version (string), chainId (uint256), "+
					"verifyingContract (address) or salt (bytes32)", quoted(m.spec), m.name)
		}
	}
	return nil
}

// quoted quotes text of the input for an error.
func quoted(text string) string { return strconv.Quote(plaintext.Shorten(text, MaxName)) }
