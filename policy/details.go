package policy

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign/chains"
)

// details are the fields of a transaction's summary, or of a part of it. Rules that use
// them apply to one chain, which their on names.
type details struct {
	request *evaluation
	fields  []chains.Field
	words   chains.Words
}

// addDetails adds the types of a chain's details: the variable, its member tx, and the
// parts in it.
func (v *vocabulary) addDetails(said chains.Words) {
	tx := v.detailType(said.Variable, "tx", said.Details)
	root := v.named(said.Variable)
	v.details[root] = map[string]field{"tx": plain(tx, func(d *details) ref.Val { return newObject(tx, d) })}
}

// named returns the type of details with a name.
func (v *vocabulary) named(name string) *types.Type {
	kind, ok := v.types[name]
	if !ok {
		kind = types.NewObjectType(name + " details")
		v.types[name] = kind
	}
	return kind
}

// detailType returns the type with members, which it adds.
func (v *vocabulary) detailType(variable, name string, members []chains.Detail) *types.Type {
	kind := v.named(variable + "." + name)
	if v.details[kind] == nil {
		table := map[string]field{}
		v.details[kind] = table
		for i := range members {
			table[members[i].Name] = v.detailField(variable, &members[i])
		}
	}
	return kind
}

// detailField returns the member that a chain describes.
func (v *vocabulary) detailField(variable string, of *chains.Detail) field {
	switch {
	case of.Picks != nil:
		return plain(types.NewListType(effectType), func(d *details) ref.Val { return d.picked(of.Picks) })
	case of.Members != nil:
		kind := v.detailType(variable, of.Part, of.Members)
		return plain(types.NewListType(kind), func(d *details) ref.Val { return d.parts(of, kind) })
	}
	reading := readings[of.Type]
	return member(reading.kind, func(d *details) (ref.Val, error) {
		f, ok := d.find(of)
		if !ok {
			return nil, absent(of.Name)
		}
		return reading.read(d, of.Name, f)
	})
}

// find returns the field that a member is read from.
func (d *details) find(of *chains.Detail) (*chains.Field, bool) {
	if of.From != nil {
		field, ok := of.From(chains.Summary{Fields: d.fields, Effects: d.request.request.Effects})
		return &field, ok
	}
	keys := of.Keys
	if keys == nil {
		keys = []string{of.Name}
	}
	fields, found := d.fields, (*chains.Field)(nil)
	for _, key := range keys {
		var ok bool
		if found, ok = chains.Keyed(fields, key); !ok {
			return nil, false
		}
		fields = found.Fields
	}
	return found, true
}

// readings are how values of fields are read, by type.
var readings = map[chains.FieldType]struct {
	kind *types.Type
	read func(of *details, name string, f *chains.Field) (ref.Val, error)
}{
	chains.TypeText:    {types.StringType, readText},
	chains.TypeBytes:   {types.StringType, readBytes},
	chains.TypeInteger: {types.IntType, readInteger},
	chains.TypeAddress: {addressType, readAddress},
	chains.TypeAmount:  {amountType, readAmount},
	chains.TypeTime:    {types.TimestampType, readTime},
	chains.TypeList:    {types.NewListType(addressType), readAddresses},
}

func readText(_ *details, _ string, f *chains.Field) (ref.Val, error) {
	return types.String(f.Value), nil
}

// readBytes returns bytes as text, in hex with 0x. They are absent if the summary shows only
// the beginning of them.
func readBytes(_ *details, name string, f *chains.Field) (ref.Val, error) {
	if f.Length != 0 {
		return nil, absent(name)
	}
	return types.String("0x" + f.Value), nil
}

func readInteger(_ *details, name string, f *chains.Field) (ref.Val, error) {
	value, err := strconv.ParseInt(f.Value, 10, 64)
	if err != nil {
		return nil, unknown(name)
	}
	return types.Int(value), nil
}

func readAddress(d *details, name string, f *chains.Field) (ref.Val, error) {
	if f.Type != chains.TypeAddress {
		return nil, unknown(name) // an entry of a lookup table
	}
	if d.words.FieldAddress != nil {
		bytes, err := d.words.FieldAddress(f.Value)
		return &address{namespace: d.words.Namespace, bytes: string(bytes), text: f.Shown}, err
	}
	bytes, ok, err := d.words.ReadAddress(f.Value)
	if err == nil && !ok {
		err = unknown(name)
	}
	return &address{namespace: d.words.Namespace, bytes: string(bytes), text: f.Value}, err
}

// readAddresses returns the addresses in the fields of a list.
func readAddresses(d *details, name string, f *chains.Field) (ref.Val, error) {
	var values []ref.Val
	for i := range f.Fields {
		address, err := readAddress(d, name, &f.Fields[i])
		if err != nil {
			return nil, err
		}
		values = append(values, address)
	}
	return newList(values), nil
}

// readAmount returns an amount of the native asset of the transaction's network.
func readAmount(d *details, name string, f *chains.Field) (ref.Val, error) {
	value, ok := new(big.Int).SetString(f.Value, 10)
	if f.Type != chains.TypeAmount || !ok {
		return nil, unknown(name)
	}
	return &amount{value: value, unit: unit{asset: chains.Native(d.network())}}, nil
}

func readTime(_ *details, name string, f *chains.Field) (ref.Val, error) {
	instant, err := time.Parse(time.RFC3339Nano, f.Value)
	if f.Type != chains.TypeTime || err != nil {
		return nil, absent(name)
	}
	return types.Timestamp{Time: instant}, nil
}

// network returns the id of the transaction's network, as its effects have it, or the
// namespace alone if none does.
func (d *details) network() string {
	for i := range d.request.effects {
		if chain := d.request.effects[i].Asset.Chain; namespaceOf(chain) == d.words.Namespace {
			return chain
		}
	}
	return d.words.Namespace
}

// detail resolves the variable of a chain's details.
func (e *evaluation) detail(name string) (any, bool) {
	chain, known := words().roots[name]
	if !known {
		return nil, false
	}
	if e.chain != chain {
		return types.WrapErr(absent(name)), true
	}
	if e.details == nil {
		e.details = &details{e, e.request.Summary.Fields, words().chains[chain]}
	}
	return newObject(words().types[name], e.details), true
}

// parts returns the parts of a list, each as details of its own.
func (d *details) parts(of *chains.Detail, kind *types.Type) ref.Val {
	fields := d.fields
	switch {
	case of.Whole:
		return newList([]ref.Val{newObject(kind, d)})
	case of.Each == "":
		list, ok := d.find(of)
		if !ok {
			return newList(nil)
		}
		fields = list.Fields
	}
	var parts []ref.Val
	for i := range fields {
		if strings.HasPrefix(fields[i].Name(), of.Each) {
			parts = append(parts, newObject(kind, &details{d.request, fields[i].Fields, d.words}))
		}
	}
	return newList(parts)
}

// picked returns the effects that a function selects.
func (d *details) picked(pick func(*chains.Effect) bool) ref.Val {
	return newList(d.request.visible(pick))
}
