package chains

import "math/big"

// Typed is typed data (EIP-712), which a Reader reads instead of a call's bytes.
type Typed struct {
	// Type is the message's type as EIP-712 encodes it: its members, then the structs
	// that it refers to.
	Type string

	// DomainName and DomainVersion are members of the domain, empty if it lacks them.
	DomainName, DomainVersion string

	Members []TypedValue // of the message
}

// TypedKind is the kind of a value, regardless of its size.
type TypedKind uint8

// The kinds of values.
const (
	TypedNumber TypedKind = iota
	TypedAddress
	TypedBool
	TypedBytes      // bytes
	TypedFixedBytes // bytesN
	TypedText
	TypedStruct
	TypedList
)

// TypedValue is a value of typed data, or an argument of a call. It must not be changed.
type TypedValue struct {
	Name   string // of an argument, or a member of a struct
	Type   string // in typed data, as EIP-712 writes it: "address", "Person", "uint256[]"
	Kind   TypedKind
	Number *big.Int     // of a number; of a bool 0 or 1
	Bytes  []byte       // of an address, 20 bytes; of bytes and text, their content
	List   []TypedValue // members of a struct in the order of its type, elements of a list
}

// Member returns a member of a struct by name.
func (v *TypedValue) Member(name string) (*TypedValue, bool) {
	for i := range v.List {
		if v.Kind == TypedStruct && v.List[i].Name == name {
			return &v.List[i], true
		}
	}
	return nil, false
}
