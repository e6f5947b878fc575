package structures

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// typedMembers returns the members of a struct for readers of descriptors.
func typedMembers(v *eip712.Value) []chains.TypedValue {
	members := make([]chains.TypedValue, len(v.Members))
	for i := range v.Members {
		members[i] = typedValue(v.Members[i].Name, &v.Members[i].Value)
	}
	return members
}

func typedValue(name string, v *eip712.Value) chains.TypedValue {
	made := chains.TypedValue{Name: name}
	switch v.Kind() {
	case eip712.KindStruct:
		made.Kind, made.List = chains.TypedStruct, typedMembers(v)
	case eip712.KindArray:
		made.Kind, made.List = chains.TypedList, make([]chains.TypedValue, len(v.List))
		for i := range v.List {
			made.List[i] = typedValue("", &v.List[i])
		}
	case eip712.KindBool:
		made.Kind, made.Number = chains.TypedBool, new(big.Int)
		if v.Bool {
			made.Number.SetInt64(1)
		}
	case eip712.KindString:
		made.Kind, made.Bytes = chains.TypedText, []byte(v.Text)
	case eip712.KindAddress:
		made.Kind, made.Bytes = chains.TypedAddress, v.Bytes
	case eip712.KindBytes:
		made.Kind, made.Bytes = chains.TypedBytes, v.Bytes
		if v.Type != "bytes" {
			made.Kind = chains.TypedFixedBytes
		}
	case eip712.KindInteger:
		made.Kind, made.Number = chains.TypedNumber, v.Int
	}
	return made
}
