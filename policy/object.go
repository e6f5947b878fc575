package policy

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// object is a value of the expressions with fields: an effect, a key, a user,
// the transaction of a chain. Its fields are read through the tables of fields,
// not by reflection.
type object struct {
	kind *types.Type
	of   any // what the getters of the kind's fields take
}

var errNotConvertible = "%s: a value of type %s has no other form"

// ConvertToNative implements ref.Val.
func (o *object) ConvertToNative(reflect.Type) (any, error) {
	return nil, fmt.Errorf(errNotConvertible, "policy", o.kind.TypeName())
}

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(ref.Type) ref.Val {
	return types.NewErr(errNotConvertible, "policy", o.kind.TypeName())
}

// Equal implements ref.Val: objects are compared by their members, not whole.
func (o *object) Equal(ref.Val) ref.Val {
	return types.NewErr("a value of type %s is compared member by member", o.kind.TypeName())
}

// Type implements ref.Val.
func (o *object) Type() ref.Type { return o.kind }

// Value implements ref.Val.
func (o *object) Value() any { return o.of }

// field is one member of an object: its type, and how it is read. The getter's
// error says that the member is absent or unknown, which has() asks.
type field struct {
	kind *types.Type
	get  func(of any) (ref.Val, error)
}

// fieldType returns the field as the checker and the interpreter take it.
func (f field) fieldType() *types.FieldType {
	return &types.FieldType{
		Type:    f.kind,
		IsSet:   func(of any) bool { _, err := f.get(of); return err == nil },
		GetFrom: func(of any) (any, error) { return f.get(of) },
	}
}

// member is a field whose getter takes the Go type of the object.
func member[T any](kind *types.Type, get func(of T) (ref.Val, error)) field {
	return field{kind, func(of any) (ref.Val, error) { return get(of.(T)) }}
}

// plain is a field that is always there.
func plain[T any](kind *types.Type, get func(of T) ref.Val) field {
	return field{kind, func(of any) (ref.Val, error) { return get(of.(T)), nil }}
}

// absentError says that a member is not there, or that the bytes do not say it.
type absentError struct{ what, why string }

// Error implements error.
func (e *absentError) Error() string {
	return e.what + " is " + e.why + ": ask has(" + e.what + ") first"
}

func absent(what string) error  { return &absentError{what, "absent"} }
func unknown(what string) error { return &absentError{what, "unknown"} }

// provider is the types and fields that expressions can name. It implements
// types.Provider and types.Adapter.
type provider struct {
	types.Adapter
	kinds  map[string]*types.Type
	fields map[string]map[string]*types.FieldType
}

func newProvider() *provider {
	made := &provider{
		Adapter: types.DefaultTypeAdapter,
		kinds:   map[string]*types.Type{},
		fields:  map[string]map[string]*types.FieldType{},
	}
	for kind, fields := range objectFields() {
		made.kinds[kind.TypeName()] = kind
		table := map[string]*types.FieldType{}
		for name, field := range fields {
			table[name] = field.fieldType()
		}
		made.fields[kind.TypeName()] = table
	}
	for _, kind := range []*types.Type{amountType, addressType} {
		made.kinds[kind.TypeName()] = kind
		made.fields[kind.TypeName()] = nil
	}
	return made
}

// NativeToValue implements types.Adapter.
func (p *provider) NativeToValue(value any) ref.Val {
	if already, ok := value.(ref.Val); ok {
		return already
	}
	return p.Adapter.NativeToValue(value)
}

// EnumValue implements types.Provider: there are no enums.
func (*provider) EnumValue(name string) ref.Val { return types.NewErr("unknown enum %q", name) }

// FindIdent implements types.Provider: types are not values here.
func (*provider) FindIdent(string) (ref.Val, bool) { return nil, false }

// FindStructType implements types.Provider.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	kind, ok := p.kinds[name]
	if !ok {
		return nil, false
	}
	return types.NewTypeTypeWithParam(kind), true
}

// FindStructFieldNames implements types.Provider.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	fields, ok := p.fields[name]
	if !ok {
		return nil, false
	}
	return sortedKeys(fields), true
}

// FindStructFieldType implements types.Provider.
func (p *provider) FindStructFieldType(kind, name string) (*types.FieldType, bool) {
	found, ok := p.fields[kind][name]
	return found, ok
}

// NewValue implements types.Provider: expressions make no objects.
func (*provider) NewValue(kind string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("an expression cannot make a value of type %q", kind)
}
