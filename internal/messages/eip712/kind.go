package eip712

// Kind is what a value is, sizes aside.
type Kind uint8

// The kinds of values.
const (
	KindStruct  Kind = iota // Members
	KindArray               // List
	KindBool                // Bool
	KindString              // Text
	KindAddress             // Bytes, 20 of them
	KindBytes               // Bytes: bytes and bytesN
	KindInteger             // Int: intN and uintN
)

// Kind returns which member of Value has the value.
func (v *Value) Kind() Kind {
	if v.of.element != nil {
		return KindArray
	}
	switch v.of.kind {
	case kindBool:
		return KindBool
	case kindString:
		return KindString
	case kindAddress:
		return KindAddress
	case kindBytes, kindFixedBytes:
		return KindBytes
	case kindUint, kindInt:
		return KindInteger
	}
	return KindStruct
}
