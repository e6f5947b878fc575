package eip712

import (
	"slices"
	"strconv"
	"strings"
)

// domainType is the struct of the domain.
const domainType = "EIP712Domain"

// Member is a member of a struct type.
type Member struct {
	Name string
	Type string // as EIP-712 writes it, such as "address", "Person" or "uint256[2][]"
}

// structType is a type of typed data.
type structType struct {
	name    string
	at      int // in the JSON text
	members []typedMember
	used    bool // by the domain or the message
	height  int  // levels of structs and arrays in it, once measured; −1 while it is
	hash    *[32]byte
	itself  memberType // the type of its values
}

func newStructType(name string, at int) *structType {
	s := &structType{name: name, at: at}
	s.itself.fields = s
	return s
}

type typedMember struct {
	name string
	spec string
	of   memberType
}

// memberType is a member's type, taken apart.
type memberType struct {
	kind    kind        // of an array that of its innermost elements
	size    int         // bytesN: N; intN, uintN: bits
	fields  *structType // of a struct
	element *memberType // of an array; nil for what is none
	length  int         // of an array; −1 for any
}

// arrays returns how many arrays are nested in the type.
func (m *memberType) arrays() (levels int) {
	for ; m.element != nil; m = m.element {
		levels++
	}
	return levels
}

// inArrays returns the type of arrays of m, whose lengths are those, innermost first.
func (m memberType) inArrays(lengths []int) memberType {
	for _, length := range lengths {
		element := m
		m.element, m.length = &element, length
	}
	return m
}

type kind uint8

const (
	kindStruct kind = iota
	kindBool
	kindString
	kindAddress
	kindBytes
	kindFixedBytes
	kindUint
	kindInt
)

// domainMembers are the members that a domain can have, with their types.
var domainMembers = map[string]string{
	"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address", "salt": "bytes32",
}

// typeTable is the types of typed data by name.
type typeTable map[string]*structType

// readTypes reads the member "types".
func readTypes(n *node) (typeTable, error) {
	if n.kind != '{' {
		return nil, malformed("types", n.at, "an object of types by name is expected")
	}
	if len(n.members) > MaxTypes {
		return nil, malformed("types", n.at, "%d types, at most %d are read", len(n.members), MaxTypes)
	}
	table := typeTable{}
	for i := range n.members {
		m := &n.members[i]
		if err := checkTypeName(m.name, m.at); err != nil {
			return nil, err
		}
		table[m.name] = newStructType(m.name, m.at)
	}
	for i := range n.members {
		if err := table.readMembers(table[n.members[i].name], &n.members[i].node); err != nil {
			return nil, err
		}
	}
	for i := range n.members {
		if err := table[n.members[i].name].measure(); err != nil {
			return nil, err
		}
	}
	return table, table.checkDomain()
}

func checkTypeName(name string, at int) error {
	field := "types." + quoteShort(name)
	if !isIdentifier(strings.ReplaceAll(name, ":", "_")) {
		return malformed(field, at, "the name of a type is letters, digits, _, $ or :, and does not begin with a digit")
	}
	if _, ok := elementary(name); ok || name == "int" || name == "uint" {
		return malformed(field, at, "this is the name of a built-in type")
	}
	return nil
}

// identifierRunes are what identifiers of Solidity are made of.
const identifierRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$"

// isIdentifier reports whether a name is a Solidity identifier of bounded length.
func isIdentifier(name string) bool {
	if name == "" || len(name) > MaxName || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(identifierRunes, r) })
}

func (t typeTable) readMembers(into *structType, n *node) error {
	field := "types." + into.name
	if n.kind != '[' {
		return malformed(field, n.at, "a list of members is expected")
	}
	for i := range n.list {
		at := field + "[" + strconv.Itoa(i) + "]"
		name, spec, err := readMember(&n.list[i], at)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(into.members, func(m typedMember) bool { return m.name == name }) {
			return malformed(at, n.list[i].at, "a second member %q", name)
		}
		of, err := t.resolve(spec, at, n.list[i].at)
		if err != nil {
			return err
		}
		into.members = append(into.members, typedMember{name, spec, of})
	}
	return nil
}

// readMember reads {"name":…,"type":…}.
func readMember(n *node, field string) (name, spec string, err error) {
	nameNode, hasName := n.find("name")
	typeNode, hasType := n.find("type")
	if n.kind != '{' || !hasName || !hasType || len(n.members) != 2 || nameNode.kind != '"' || typeNode.kind != '"' {
		return "", "", malformed(field, n.at, `an object with exactly the texts "name" and "type" is expected`)
	}
	if !isIdentifier(nameNode.text) {
		return "", "", malformed(field, nameNode.at, "the name of a member is letters, digits, _ or $, and does not begin with a digit")
	}
	return nameNode.text, typeNode.text, nil
}

// resolve takes a member's type apart.
func (t typeTable) resolve(spec, field string, at int) (memberType, error) {
	base, suffix := spec, ""
	if bracket := strings.IndexByte(spec, '['); bracket >= 0 {
		base, suffix = spec[:bracket], spec[bracket:]
	}
	arrays, ok := arraysOf(suffix)
	if !ok || len(arrays) > MaxDepth {
		return memberType{}, malformed(field, at, "type %s: [] or [n], at most %d of them, are expected behind the name", quoteShort(spec), MaxDepth)
	}
	if base == "int" || base == "uint" {
		return memberType{}, malformed(field, at, "type %s: write %s256, which is what it stands for", base, base)
	}
	if of, ok := elementary(base); ok {
		return of.inArrays(arrays), nil
	}
	fields, ok := t[base]
	if !ok || base == domainType {
		return memberType{}, malformed(field, at, "type %s is not one of the types", quoteShort(base))
	}
	return fields.itself.inArrays(arrays), nil
}

// arraysOf reads "[2][]": the lengths from left to right.
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

// elementary reads the name of a built-in type.
func elementary(name string) (memberType, bool) {
	switch name {
	case "bool":
		return memberType{kind: kindBool}, true
	case "string":
		return memberType{kind: kindString}, true
	case "address":
		return memberType{kind: kindAddress}, true
	case "bytes":
		return memberType{kind: kindBytes}, true
	}
	for prefix, of := range map[string]kind{"bytes": kindFixedBytes, "uint": kindUint, "int": kindInt} {
		digits, ok := strings.CutPrefix(name, prefix)
		size, err := strconv.Atoi(digits)
		if !ok || err != nil || strconv.Itoa(size) != digits {
			continue
		}
		if of == kindFixedBytes && size >= 1 && size <= 32 || of != kindFixedBytes && size >= 8 && size <= 256 && size%8 == 0 {
			return memberType{kind: of, size: size}, true
		}
	}
	return memberType{}, false
}

// measure refuses a struct that contains itself, also through arrays, or that is
// nested too deeply. It looks at each type once.
func (s *structType) measure() error {
	if s.height != 0 {
		if s.height < 0 {
			return malformed("types."+s.name, s.at, "the type contains itself")
		}
		return nil
	}
	s.height = -1
	height := 0
	for i := range s.members {
		of := &s.members[i].of
		levels := of.arrays()
		if of.fields != nil {
			if err := of.fields.measure(); err != nil {
				return err
			}
			levels += of.fields.height
		}
		height = max(height, levels)
	}
	if s.height = height + 1; s.height > MaxDepth {
		return malformed("types."+s.name, s.at, "values of the type are nested %d levels deep, at most %d are read", s.height, MaxDepth)
	}
	return nil
}

// checkDomain checks that there is an EIP712Domain, with members that are known.
func (t typeTable) checkDomain() error {
	domain, ok := t[domainType]
	if !ok {
		return malformed("types", -1, `EIP712Domain is missing: add the domain's members to "types", such as {"name":"name","type":"string"}`)
	}
	for _, m := range domain.members {
		if want, known := domainMembers[m.name]; !known || m.spec != want {
			return malformed("types.EIP712Domain", domain.at,
				"%s %s is not a member of a domain: name and version (string), chainId (uint256), verifyingContract (address) and salt (bytes32) are", quoteShort(m.spec), m.name)
		}
	}
	return nil
}

// quoteShort quotes a text of the caller's for an error.
func quoteShort(text string) string {
	if len(text) > MaxName {
		text = text[:MaxName] + "…"
	}
	return strconv.Quote(text)
}
