package eip712

import (
	"maps"
	"math/big"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// TypedData is parsed typed data.
type TypedData struct {
	PrimaryType string
	Domain      chains.TypedValue // of EIP712Domain
	Message     chains.TypedValue // of PrimaryType

	// Chain is the name of the chain whose notation the data has: "tron" if its domain is
	// of one of Tron's networks, else "ethereum".
	Chain string

	types map[string]*structType
}

// Parse reads typed data from JSON text. The error is a *chains.ParseError.
func Parse(text []byte) (*TypedData, error) {
	root, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	parts, err := splitDocument(root)
	if err != nil {
		return nil, err
	}
	by := notationOf(parts.domain)
	table, err := readTypes(parts.types, by)
	if err != nil {
		return nil, err
	}
	data := &TypedData{PrimaryType: parts.primaryType.text, Chain: by.chain, types: table.structs}
	primary, ok := data.types[data.PrimaryType]
	switch {
	case parts.primaryType.kind != '"' || !ok:
		return nil, malformed("primaryType", parts.primaryType.offset, "expected the name of one of the types")
	case primary.name == domainType:
		return nil, malformed("primaryType", parts.primaryType.offset,
			"EIP712Domain is not a message: expected a type of your application")
	}
	if data.Domain, err = readStruct(parts.domain, data.types[domainType]); err != nil {
		return nil, within(err, "domain")
	}
	if data.Message, err = readStruct(parts.message, primary); err != nil {
		return nil, within(err, "message")
	}
	primary.used = true
	for _, name := range primary.dependencies() {
		data.types[name].used = true
	}
	return data, nil
}

type parts struct{ types, primaryType, domain, message *node }

// splitDocument returns the four members of the object.
func splitDocument(root *node) (p parts, err error) {
	if root.kind != '{' {
		return p, malformed("", root.offset, "expected an object {types, primaryType, domain, message}")
	}
	names := [...]string{"types", "primaryType", "domain", "message"}
	for child := root.first; child != nil; child = child.next {
		if !slices.Contains(names[:], child.name) {
			return p, malformed(shortName(child.name), child.nameOffset,
				"unknown member: expected only types, primaryType, domain and message")
		}
	}
	for i, into := range [...]**node{&p.types, &p.primaryType, &p.domain, &p.message} {
		var ok bool
		if *into, ok = root.find(names[i]); !ok {
			return p, malformed(names[i], root.offset, "missing")
		}
	}
	return p, nil
}

// dependencies returns the names of the structs that a struct refers to, including
// itself, sorted. It returns none if the struct refers to none.
func (s *structType) dependencies() []string {
	if s.height == 1 {
		return nil
	}
	names := map[string]bool{}
	var walk func(*structType)
	walk = func(s *structType) {
		if names[s.name] {
			return
		}
		names[s.name] = true
		for i := range s.members {
			if fields := s.members[i].of.fields; fields != nil {
				walk(fields)
			}
		}
	}
	walk(s)
	return slices.Sorted(maps.Keys(names))
}

// UnusedTypes returns the names of the types that neither the domain nor the
// message refers to, sorted.
func (d *TypedData) UnusedTypes() []string {
	var names []string
	for name, of := range d.types {
		if !of.used {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// EncodeType returns EIP-712's encodeType of a struct: the struct, then those that it
// refers to, sorted by name. It returns "" if there is no such type.
func (d *TypedData) EncodeType(name string) string {
	of, ok := d.types[name]
	if !ok {
		return ""
	}
	d.encodeType(of)
	return of.encoded
}

// encodeType encodes a struct's type and hashes it, once.
func (d *TypedData) encodeType(of *structType) {
	if of.encoded != "" {
		return
	}
	encoded := of.append(make([]byte, 0, usualType))
	for _, dependency := range of.dependencies() {
		if dependency != of.name {
			encoded = d.types[dependency].append(encoded)
		}
	}
	of.encoded, of.hash = string(encoded), evm.Keccak256(encoded)
}

// usualType is more bytes than the encoded types of most structs have.
const usualType = 256

// append appends name(type member,…).
func (s *structType) append(out []byte) []byte {
	out = append(append(out, s.name...), '(')
	for i := range s.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, s.members[i].spec...), ' ')
		out = append(out, s.members[i].name...)
	}
	return append(out, ')')
}

// Digest returns the hash that is signed:
// keccak256(0x19 ‖ 0x01 ‖ domainSeparator ‖ hashStruct(message)).
func (d *TypedData) Digest() [32]byte {
	separator, message := d.DomainSeparator(), d.hashStruct(d.types[d.PrimaryType], &d.Message)
	return evm.Keccak256([]byte{0x19, 0x01}, separator[:], message[:])
}

// DomainSeparator returns hashStruct(domain).
func (d *TypedData) DomainSeparator() [32]byte { return d.hashStruct(d.types[domainType], &d.Domain) }

// hashStruct returns keccak256(typeHash ‖ encodeData).
func (d *TypedData) hashStruct(of *structType, v *chains.TypedValue) [32]byte {
	d.encodeType(of)
	var room [usualWords * 32]byte
	encoded := append(room[:0], of.hash[:]...)
	for i := range v.List {
		word := d.encode(&of.members[i].of, &v.List[i])
		encoded = append(encoded, word[:]...)
	}
	return evm.Keccak256(encoded)
}

// usualWords is more words than the encoded data of most structs and arrays has.
const usualWords = 16

// encode returns EIP-712's encodeData of one value, 32 bytes.
func (d *TypedData) encode(of *memberType, v *chains.TypedValue) (word [32]byte) {
	switch v.Kind {
	case chains.TypedList:
		var room [usualWords * 32]byte
		elements := room[:0]
		for i := range v.List {
			element := d.encode(of.element, &v.List[i])
			elements = append(elements, element[:]...)
		}
		return evm.Keccak256(elements)
	case chains.TypedStruct:
		return d.hashStruct(of.fields, v)
	case chains.TypedText, chains.TypedBytes:
		return evm.Keccak256(v.Bytes)
	case chains.TypedFixedBytes:
		copy(word[:], v.Bytes)
	case chains.TypedAddress:
		copy(word[12:], v.Bytes)
	case chains.TypedNumber, chains.TypedBool:
		number := v.Number
		if number.Sign() < 0 {
			number = new(big.Int).Add(number, modulus)
		}
		number.FillBytes(word[:])
	}
	return word
}

// modulus is that of 256-bit integers: a negative one is its complement.
var modulus = new(big.Int).Lsh(big.NewInt(1), 256)
