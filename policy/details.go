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

// detailTypes are the types of a chain's details: of the variable, its member tx, and the parts
// in it, by name.
type detailTypes struct {
	variable string
	named    map[string]*types.Type
	members  map[*types.Type]map[string]field // of all objects
}

// add returns the type with a name, with members unless it has some.
func (t detailTypes) add(name string, members []chains.Detail) *types.Type {
	if kind, known := t.named[name]; known {
		return kind
	}
	kind, table := types.NewObjectType(t.variable+"."+name+" details"), map[string]field{}
	t.named[name], t.members[kind] = kind, table
	for i := range members {
		table[members[i].Name] = t.field(&members[i])
	}
	return kind
}

func (t detailTypes) field(of *chains.Detail) field {
	switch {
	case of.Picks != nil:
		return plain(types.NewListType(effectType), func(d *details) ref.Val {
			return newList(d.request.visible(of.Picks))
		})
	case of.Members != nil:
		kind := t.add(of.Part, of.Members)
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
		return &address{words: d.words, bytes: string(bytes), text: f.Shown}, err
	}
	bytes, ok, err := d.words.ReadAddress(f.Value)
	if err == nil && !ok {
		err = unknown(name)
	}
	return &address{words: d.words, bytes: string(bytes), text: f.Value}, err
}

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
	network := d.words.Namespace // if no effect has the id of the transaction's network
	for i := range d.request.effects {
		if chain := d.request.effects[i].Asset.Chain; namespaceOf(chain) == d.words.Namespace {
			network = chain
			break
		}
	}
	return &amount{value: value, unit: unit{asset: chains.Native(network)}}, nil
}

func readTime(_ *details, name string, f *chains.Field) (ref.Val, error) {
	instant, err := time.Parse(time.RFC3339Nano, f.Value)
	if f.Type != chains.TypeTime || err != nil {
		return nil, absent(name)
	}
	return types.Timestamp{Time: instant}, nil
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
