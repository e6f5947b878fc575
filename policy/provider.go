package policy

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// provider has the types and fields that expressions can name. It implements
// types.Provider and types.Adapter.
type provider struct {
	types.Adapter
	kinds  map[string]*types.Type
	fields map[string]map[string]*types.FieldType
}

func newProvider(members map[*types.Type]map[string]field) *provider {
	p := &provider{
		Adapter: types.DefaultTypeAdapter,
		kinds:   map[string]*types.Type{},
		fields:  map[string]map[string]*types.FieldType{},
	}
	for kind, fields := range members {
		p.kinds[kind.TypeName()] = kind
		table := map[string]*types.FieldType{}
		for name, field := range fields {
			table[name] = field.fieldType()
		}
		p.fields[kind.TypeName()] = table
	}
	for _, kind := range []*types.Type{amountType, addressType} {
		p.kinds[kind.TypeName()] = kind
		p.fields[kind.TypeName()] = nil
	}
	return p
}

// NativeToValue implements types.Adapter.
func (p *provider) NativeToValue(value any) ref.Val {
	if converted, ok := value.(ref.Val); ok {
		return converted
	}
	return p.Adapter.NativeToValue(value)
}

// EnumValue implements types.Provider. There are no enums.
func (*provider) EnumValue(name string) ref.Val { return types.NewErr("unknown enum %q", name) }

// FindIdent implements types.Provider. Types are not values.
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
	field, ok := p.fields[kind][name]
	return field, ok
}

// NewValue implements types.Provider. Expressions cannot create objects.
func (*provider) NewValue(kind string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("an expression cannot create a value of type %q", kind)
}
