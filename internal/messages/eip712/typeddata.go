package eip712

import (
	"maps"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
)

// TypedData is parsed typed data.
type TypedData struct {
	PrimaryType string
	Domain      Value // of EIP712Domain
	Message     Value // of PrimaryType

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
	parts, err := splitDocument(&root)
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
		return nil, malformed("primaryType", parts.primaryType.offset, "EIP712Domain is not a message: expected a type of your application")
	}
	if data.Domain, err = readStruct(parts.domain, data.types[domainType], "domain"); err != nil {
		return nil, err
	}
	data.Message, err = readStruct(parts.message, primary, "message")
	if err != nil {
		return nil, err
	}
	data.markUsed(primary)
	return data, nil
}

type parts struct{ types, primaryType, domain, message *node }

// splitDocument returns the four members of the object.
func splitDocument(root *node) (p parts, err error) {
	if root.kind != '{' {
		return p, malformed("", root.offset, "expected an object {types, primaryType, domain, message}")
	}
	into := map[string]**node{"types": &p.types, "primaryType": &p.primaryType, "domain": &p.domain, "message": &p.message}
	for i := range root.members {
		place, ok := into[root.members[i].name]
		if !ok {
			return p, malformed(shortName(root.members[i].name), root.members[i].offset, "unknown member: expected only types, primaryType, domain and message")
		}
		*place = &root.members[i].node
	}
	for _, name := range []string{"types", "primaryType", "domain", "message"} {
		if *into[name] == nil {
			return p, malformed(name, root.offset, "missing")
		}
	}
	return p, nil
}

// markUsed marks the types that the hash of a struct depends on, including those of
// empty arrays.
func (d *TypedData) markUsed(s *structType) {
	for _, name := range s.dependencies() {
		d.types[name].used = true
	}
}

// dependencies returns the names of the structs that a struct refers to, including
// itself, sorted.
func (s *structType) dependencies() []string {
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
	var out strings.Builder
	of.write(&out)
	for _, dependency := range of.dependencies() {
		if dependency != name {
			d.types[dependency].write(&out)
		}
	}
	return out.String()
}

// write writes name(type member,…).
func (s *structType) write(out *strings.Builder) {
	out.WriteString(s.name + "(")
	for i, m := range s.members {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(m.spec + " " + m.name)
	}
	out.WriteByte(')')
}

// Digest returns the hash that is signed:
// keccak256(0x19 ‖ 0x01 ‖ domainSeparator ‖ hashStruct(message)).
func (d *TypedData) Digest() [32]byte {
	separator, message := d.DomainSeparator(), d.hashStruct(&d.Message)
	return crypto.Keccak256Hash([]byte{0x19, 0x01}, separator[:], message[:])
}

// DomainSeparator returns hashStruct(domain).
func (d *TypedData) DomainSeparator() [32]byte { return d.hashStruct(&d.Domain) }

// hashStruct returns keccak256(typeHash ‖ encodeData).
func (d *TypedData) hashStruct(v *Value) [32]byte {
	of := v.of.fields
	if of.hash == nil {
		hash := [32]byte(crypto.Keccak256Hash([]byte(d.EncodeType(of.name))))
		of.hash = &hash
	}
	encoded := append(make([]byte, 0, len(of.hash)*(1+len(v.Members))), of.hash[:]...)
	for i := range v.Members {
		word := d.encode(&v.Members[i].Value)
		encoded = append(encoded, word[:]...)
	}
	return crypto.Keccak256Hash(encoded)
}

// encode returns EIP-712's encodeData of one value, 32 bytes.
func (d *TypedData) encode(v *Value) (word [32]byte) {
	if v.of.element != nil {
		elements := make([]byte, 0, len(word)*len(v.List))
		for i := range v.List {
			element := d.encode(&v.List[i])
			elements = append(elements, element[:]...)
		}
		return crypto.Keccak256Hash(elements)
	}
	switch v.of.kind {
	case KindStruct:
		return d.hashStruct(v)
	case KindString:
		return crypto.Keccak256Hash([]byte(v.Text))
	case KindBytes:
		return crypto.Keccak256Hash(v.Bytes)
	case KindFixedBytes:
		copy(word[:], v.Bytes)
	case KindAddress:
		copy(word[12:], v.Bytes)
	case KindUint, KindInt:
		return encodeInteger(v)
	case KindBool:
		if v.Bool {
			word[31] = 1
		}
	}
	return word
}

// encodeInteger returns the 256-bit two's complement of an integer, big-endian.
func encodeInteger(v *Value) (word [32]byte) {
	if v.Int.Sign() >= 0 {
		v.Int.FillBytes(word[:])
		return word
	}
	complement := v.Int.Bytes() // of the magnitude
	copy(word[32-len(complement):], complement)
	carry := uint16(1)
	for i := 31; i >= 0; i-- {
		sum := uint16(^word[i]) + carry
		word[i], carry = byte(sum), sum>>8
	}
	return word
}
