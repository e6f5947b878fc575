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
	Kind   TypedKind
	Number *big.Int     // of a number; of a bool 0 or 1
	Bytes  []byte       // of an address, 20 bytes; of bytes and text, their content
	List   []TypedValue // members of a struct, elements of a list
}
