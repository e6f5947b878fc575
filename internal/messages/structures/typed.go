package structures

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// typedMembers converts the members of a struct for chains.Typed.
func typedMembers(v *eip712.Value) []chains.TypedValue {
	members := make([]chains.TypedValue, len(v.Members))
	for i := range v.Members {
		members[i] = typedValue(v.Members[i].Name, &v.Members[i].Value)
	}
	return members
}

func typedValue(name string, v *eip712.Value) chains.TypedValue {
	out := chains.TypedValue{Name: name}
	switch v.Kind() {
	case eip712.KindStruct:
		out.Kind, out.List = chains.TypedStruct, typedMembers(v)
	case eip712.KindArray:
		out.Kind, out.List = chains.TypedList, make([]chains.TypedValue, len(v.List))
		for i := range v.List {
			out.List[i] = typedValue("", &v.List[i])
		}
	case eip712.KindBool:
		out.Kind, out.Number = chains.TypedBool, new(big.Int)
		if v.Bool {
			out.Number.SetInt64(1)
		}
	case eip712.KindString:
		out.Kind, out.Bytes = chains.TypedText, []byte(v.Text)
	case eip712.KindAddress:
		out.Kind, out.Bytes = chains.TypedAddress, v.Bytes
	case eip712.KindBytes:
		out.Kind, out.Bytes = chains.TypedBytes, v.Bytes
	case eip712.KindFixedBytes:
		out.Kind, out.Bytes = chains.TypedFixedBytes, v.Bytes
	case eip712.KindUint, eip712.KindInt:
		out.Kind, out.Number = chains.TypedNumber, v.Int
	}
	return out
}
