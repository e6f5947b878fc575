package chains

import "math/big"

// Typed is typed data (EIP-712), which a Reader reads in place of a call's bytes.
type Typed struct {
	// Type is the type of the message as EIP-712 hashes it: its members, then the
	// structs that it refers to.
	Type string

	// DomainName and DomainVersion are those of the domain, empty if it has none.
	DomainName, DomainVersion string

	Members []TypedValue // of the message
}

// TypedKind is what a value is, sizes aside.
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

// TypedValue is a value of typed data. It must not be changed.
type TypedValue struct {
	Name   string // of a member of a struct
	Kind   TypedKind
	Number *big.Int     // of a number; of a bool 0 or 1
	Bytes  []byte       // of an address its 20 bytes, of bytes and text what they are
	List   []TypedValue // members of a struct, elements of a list
}
