package structures

import (
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// Fields implements statement.Content: the domain, the message and the decoded calls.
func (r *reading) Fields() []chains.Field {
	fields := []chains.Field{chains.Text("kind", "typed data (EIP-712)"), chains.Text("type", r.data.PrimaryType),
		chains.List("domain", r.membersOf(&r.data.Domain)...), chains.List("message", r.membersOf(r.message)...)}
	if r.shown != nil {
		fields = append(fields, r.shown()...)
	}
	return fields
}

func (r *reading) membersOf(v *eip712.Value) []chains.Field {
	fields := make([]chains.Field, 0, len(v.Members))
	for i := range v.Members {
		fields = append(fields, r.fieldOf(v.Members[i].Name, &v.Members[i].Value))
	}
	return fields
}

func (r *reading) fieldOf(label string, v *eip712.Value) chains.Field {
	if field, ok := r.plainField(label, v); ok {
		return field
	}
	if v.Members != nil || v.List == nil {
		return chains.List(label, r.membersOf(v)...)
	}
	elements := make([]chains.Field, len(v.List))
	for i := range v.List {
		elements[i] = r.fieldOf(strconv.Itoa(i), &v.List[i])
	}
	return chains.List(label, elements...)
}

// plainField returns a field for a value of a built-in type; ok is false for structs
// and arrays.
func (r *reading) plainField(label string, v *eip712.Value) (field chains.Field, ok bool) {
	switch v.Kind() {
	case eip712.KindBool:
		return chains.Text(label, strconv.FormatBool(v.Bool)), true
	case eip712.KindString:
		return chains.Text(label, v.Text), true
	case eip712.KindAddress:
		return chains.AddressField(label, r.party(v).String()), true
	case eip712.KindBytes, eip712.KindFixedBytes:
		return chains.Bytes(label, v.Bytes), true
	case eip712.KindUint, eip712.KindInt:
		return chains.BigInteger(label, v.Int), true
	}
	return field, false
}
